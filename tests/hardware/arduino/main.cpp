// The sketch, run: its pins are in the file that is named.
#include <fcntl.h>
#include <sys/mman.h>

#include <string>

#include "Arduino.h"

volatile byte *pins;
Port Serial;

#include "rinkside_board.ino"

int main(int, char **words) {
  pins = (volatile byte *)mmap(nullptr, 2 * PINS, PROT_READ | PROT_WRITE, MAP_SHARED, open(words[1], O_RDWR), 0);
  memset((void *)(pins + PINS), UNUSED, PINS);
  setup();
  for (;;) loop();
}
