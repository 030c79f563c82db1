// What the sketch needs of Arduino's core, on a computer: its port is standard input and output, its pins are bytes of a file.
#pragma once
#include <poll.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

typedef uint8_t byte;
enum { LOW, HIGH };
enum { INPUT, OUTPUT, INPUT_PULLUP };
const int A0 = 14, A1 = 15, A2 = 16, A3 = 17, PINS = 20, UNUSED = 255;

extern volatile byte *pins;   // levels, 0 to 255, then how each is used
inline int max(int a, int b) { return a > b ? a : b; }
inline long min(long a, long b) { return a < b ? a : b; }

inline void fail(const char *why, int pin) {
  fprintf(stderr, "pin %d: %s\n", pin, why);
  exit(3);
}

inline void pinMode(int pin, int mode) {
  if (pin < 2 || pin >= PINS) fail("it is no pin of an Uno, or the port's", pin);
  if (pins[PINS + pin] != UNUSED) fail("it is used twice", pin);
  pins[PINS + pin] = mode;
  pins[pin] = mode == INPUT_PULLUP ? 255 : 0;
}

inline void drive(int pin, int level) {
  if (pins[PINS + pin] != OUTPUT) fail("it is no output", pin);
  if (level < 0 || level > 255) fail("it has no such level", pin);
  pins[pin] = level;
}

inline void digitalWrite(int pin, int level) { drive(pin, level ? 255 : 0); }

inline void analogWrite(int pin, int level) {
  if (!strchr("\3\5\6\11\12\13", pin)) fail("it cannot fade on an Uno", pin);
  drive(pin, level);
}

inline int digitalRead(int pin) { return pins[pin] ? HIGH : LOW; }

inline unsigned long millis() {
  using namespace std::chrono;
  return (unsigned long)duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

struct Port {
  long baud = 0;
  void begin(long speed) { baud = speed; }
  int available() {
    pollfd waiting = {0, POLLIN, 0};
    return poll(&waiting, 1, 1) > 0;
  }
  int read() {
    char letter;
    if (::read(0, &letter, 1) != 1) exit(0);
    return letter;
  }
  void print(const char *text) {
    if (baud != 115200 || ::write(1, text, strlen(text)) < 0) exit(4);
  }
  void print(int number) { print(std::to_string(number).c_str()); }
};
extern Port Serial;
