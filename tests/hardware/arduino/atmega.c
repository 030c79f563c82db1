// The sketch as an Uno runs it: its ATmega328P is simulated by libsimavr, bytes come no faster and wait no longer than on the wire.
// Called with the program (ELF) and the file of its pins: a byte a pin for its level, then, low byte first, how much of the memory was
// never used (two bytes).
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PINS = 20, FIRST_BUTTON = 14, LAST_BUTTON = 17, UNTOUCHED = 0xA5, HZ = 16000000, BYTE_CYCLES = HZ / 11520, MS_CYCLES = HZ / 1000 };

static int port;  // what the sketch says goes here; the simulator's own words go to standard error

static void say(struct avr_irq_t *irq, uint32_t value, void *unused) {
  (void)irq, (void)unused;
  uint8_t letter = value;
  if (write(port, &letter, 1) < 0 && errno != EAGAIN) exit(0);
}

// Where ATmega328P keeps it (data sheet, "Register Summary"): the bit that gives a pin to its timer, and how long the timer lights it of 255.
static const struct { uint8_t pin, control, bit; uint16_t compare; } PWM[] = {
  {3, 0xB0, 5, 0xB4}, {5, 0x44, 5, 0x48}, {6, 0x44, 7, 0x47}, {9, 0x80, 7, 0x88}, {10, 0x80, 5, 0x8A}, {11, 0xB0, 7, 0xB3},
};

static uint8_t port_bit(const avr_t *avr, int pin, int of_port) {  // 0: PIN, 1: DDR, 2: PORT
  int base = pin < 8 ? 0x29 : pin < 14 ? 0x23 : 0x26;
  return avr->data[base + of_port] >> (pin < 8 ? pin : pin < 14 ? pin - 8 : pin - 14) & 1;
}

static uint8_t level(const avr_t *avr, int pin) {
  for (size_t timer = 0; timer < sizeof PWM / sizeof *PWM; timer++)
    if (PWM[timer].pin == pin && avr->data[PWM[timer].control] >> PWM[timer].bit & 1) return avr->data[PWM[timer].compare];
  return port_bit(avr, pin, 1) && port_bit(avr, pin, 2) ? 255 : 0;
}

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **words) {
  port = dup(1);
  dup2(2, 1);
  elf_firmware_t firmware = {0};
  avr_t *avr = avr_make_mcu_by_name("atmega328p");
  if (count != 3 || !avr || elf_read_firmware(words[1], &firmware)) return 2;
  volatile uint8_t *pins = mmap(NULL, 2 * PINS, PROT_READ | PROT_WRITE, MAP_SHARED, open(words[2], O_RDWR), 0);
  avr_init(avr);
  avr->log = LOG_NONE;
  avr->frequency = HZ;
  avr_load_firmware(avr, &firmware);
  uint32_t flags = 0;
  avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
  avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), say, NULL);
  avr_irq_t *hear = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
  int free_from = 0x100 + firmware.datasize + firmware.bsssize;
  memset(avr->data + free_from, UNTOUCHED, avr->ramend + 1 - free_from);
  for (int pin = FIRST_BUTTON; pin <= LAST_BUTTON; pin++) pins[pin] = 255;

  avr_cycle_count_t next_byte = 0, next_ms = 0;
  double begun_s = now_s();
  for (;;) {
    int state = avr_run(avr);
    if (state == cpu_Done || state == cpu_Crashed) return 3;
    if (avr->cycle >= next_byte) {
      next_byte = avr->cycle + BYTE_CYCLES;
      struct pollfd waiting = {0, POLLIN, 0};
      uint8_t letter;
      if (poll(&waiting, 1, 0) > 0) {
        if (read(0, &letter, 1) != 1) return 0;
        avr_raise_irq(hear, letter);
      }
    }
    if (avr->cycle < next_ms) continue;
    next_ms = avr->cycle + MS_CYCLES;
    for (int pin = 2; pin < FIRST_BUTTON; pin++) pins[pin] = level(avr, pin);
    for (int pin = FIRST_BUTTON; pin <= LAST_BUTTON; pin++) {
      int pulled_up = !port_bit(avr, pin, 1) && port_bit(avr, pin, 2);
      avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('C'), pin - FIRST_BUTTON), pins[pin] && pulled_up);
    }
    int unused = 0;
    while (free_from + unused <= avr->ramend && avr->data[free_from + unused] == UNTOUCHED) unused++;
    pins[PINS] = unused & 0xFF, pins[PINS + 1] = unused >> 8;
    double ahead_s = (double)avr->cycle / HZ - (now_s() - begun_s);
    if (ahead_s > 0) usleep((useconds_t)(1e6 * ahead_s));
  }
}
