// An Arduino Uno as lamps, a die, buttons and a buzzer for Rinkside: open it in the Arduino IDE and upload it.
//
// Lines of JSON over USB, 115200 baud; docs/HARDWARE.md describes them, and has the pins in a table.  Each player has an LED of
// one colour, 470 ohm; the verdict is a common-cathode RGB LED, 470 ohm in the red lead and 330 ohm in the others.  A die is
// seven LEDs, 470 ohm each, on four pins: opposite pips are always lit together.  Buttons go to ground; the buzzer is an active
// one.  Any other board that Arduino's core knows will do; give it pins of its own here.

const int NONE = -1;
const int LAMPS[][3] = {  // red, green, blue; or one pin that can do PWM, and NONE; players in turn order, the verdict last
  {3, NONE, NONE},
  {5, NONE, NONE},
  {9, 10, 11},
};
const int DICE[][4] = {  // centre; top left and bottom right; middle left and middle right; bottom left and top right
  {2, 4, 7, 8},
};
const char *const BUTTONS[] = {"appeal", "die", "next", "rule"};
const int BUTTON_PINS[] = {A2, A0, A3, A1};
const int BUZZER = 12;

const int LAMP_COUNT = sizeof(LAMPS) / sizeof(LAMPS[0]);
const int DIE_COUNT = sizeof(DICE) / sizeof(DICE[0]);
const int BUTTON_COUNT = sizeof(BUTTONS) / sizeof(BUTTONS[0]);
const byte PIPS[] = {0, 1, 2, 3, 10, 11, 14};  // a bit for each of a die's four pins: centre 1, then 2, 4, 8
const int MOST_BEEPS = 24;
const int LONGEST = 240;  // bytes of a line; a longer one does nothing
const int LARGEST = 10000;  // of any number: a sound or a silence lasts no longer, in ms

char line[LONGEST + 1];
int lineLength = 0;
bool down[BUTTON_COUNT];
int beeps[2 * MOST_BEEPS];  // sound or silence, and for how many ms
int beepCount = 0;
int beepNow = 0;
unsigned long beepBegan = 0;

void sayHello() {
  Serial.print("{\"hello\": \"rinkside-board/1\", \"lamps\": ");
  Serial.print(LAMP_COUNT);
  Serial.print(", \"dice\": ");
  Serial.print(DIE_COUNT);
  Serial.print(", \"buttons\": [");
  for (int button = 0; button < BUTTON_COUNT; button++) {
    Serial.print(button ? ", \"" : "\"");
    Serial.print(BUTTONS[button]);
    Serial.print("\"");
  }
  Serial.print("], \"buzzer\": true}\n");
}

// The numbers behind a key, brackets and commas left out, at most `most`; how many there were, -1 without the key.
int numbersOf(const char *key, int *numbers, int most) {
  const char *at = strstr(line, key);
  if (!at) return -1;
  int count = 0;
  for (at += strlen(key); *at && *at != '"' && *at != '}' && count < most;) {
    if (isdigit(*at)) {
      numbers[count++] = (int)min(atol(at), (long)LARGEST);
      while (isdigit(*at)) at++;
    } else {
      at++;
    }
  }
  return count;
}

void light(const int pins[3], const int rgb[3]) {
  if (pins[1] == NONE) {
    analogWrite(pins[0], max(rgb[0], max(rgb[1], rgb[2])));
    return;
  }
  for (int part = 0; part < 3; part++) analogWrite(pins[part], rgb[part]);
}

void sound(int number) {
  beepNow = number;
  beepBegan = millis();
  digitalWrite(BUZZER, number < beepCount && beeps[2 * number] ? HIGH : LOW);
}

// Obey a line; one that is broken, or not understood, does nothing.
void hear() {
  int numbers[3 * LAMP_COUNT];
  if (line[0] != '{' || line[lineLength - 1] != '}') return;
  if (strstr(line, "\"hello\"")) sayHello();
  int count = numbersOf("\"lamps\":", numbers, 3 * LAMP_COUNT);
  for (int lamp = 0; 3 * lamp + 2 < count; lamp++) light(LAMPS[lamp], numbers + 3 * lamp);
  count = numbersOf("\"dice\":", numbers, DIE_COUNT);
  for (int die = 0; die < count; die++)
    for (int pin = 0; pin < 4; pin++) digitalWrite(DICE[die][pin], numbers[die] <= 6 && PIPS[numbers[die]] >> pin & 1 ? HIGH : LOW);
  count = numbersOf("\"beeps\":", beeps, 2 * MOST_BEEPS);
  if (count >= 0) {
    beepCount = count / 2;
    sound(0);
  }
}

void setup() {
  Serial.begin(115200);
  for (int lamp = 0; lamp < LAMP_COUNT; lamp++)
    for (int part = 0; part < 3; part++)
      if (LAMPS[lamp][part] != NONE) pinMode(LAMPS[lamp][part], OUTPUT);
  for (int die = 0; die < DIE_COUNT; die++)
    for (int pin = 0; pin < 4; pin++) pinMode(DICE[die][pin], OUTPUT);
  for (int button = 0; button < BUTTON_COUNT; button++) pinMode(BUTTON_PINS[button], INPUT_PULLUP);
  pinMode(BUZZER, OUTPUT);
  sayHello();
}

void loop() {
  while (Serial.available()) {
    char letter = Serial.read();
    if (letter == '\n') {
      line[lineLength <= LONGEST ? lineLength : 0] = 0;
      if (lineLength > 0 && lineLength <= LONGEST) hear();
      lineLength = 0;
    } else if (lineLength < LONGEST) {
      line[lineLength++] = letter;
    } else {
      lineLength = LONGEST + 1;
    }
  }
  for (int button = 0; button < BUTTON_COUNT; button++) {
    bool now = digitalRead(BUTTON_PINS[button]) == LOW;
    if (now == down[button]) continue;
    down[button] = now;
    Serial.print("{\"button\": \"");
    Serial.print(BUTTONS[button]);
    Serial.print(now ? "\", \"down\": true}\n" : "\", \"down\": false}\n");
  }
  if (beepNow < beepCount && millis() - beepBegan >= (unsigned long)beeps[2 * beepNow + 1]) sound(beepNow + 1);
}
