# Two commands are all that is needed: `make demo` and `make test`.  What they install stays in .venv; a second run
# installs nothing and needs no network.  Another Python: `make demo PYTHON=python3.12`; options: `make demo ARGS="--port 8080"`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Wheels only: nothing is ever compiled here.  The package itself is installed in place, so that an edit is live.
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --only-binary=:all: --retries 2

# On a Raspberry Pi: an environment that sees the system's packages (picamera2, lgpio).  It stays one until `make PI=`.
ifeq ($(origin PI),command line)
.DEFAULT_GOAL := environment
else
PI := $(if $(filter PI=1,$(lastword $(file <$(VENV)/made-for))),1)
endif

# An environment serves one folder, one Python and one PI; when one of them is another, it is made anew.
THIS := $(CURDIR) $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)$(if $(PI), PI=1)
ifneq ($(THIS),$(file <$(VENV)/made-for))
.PHONY: $(VENV)/made-for
endif

# Modules are compiled once and kept, whatever this shell says: every start of a process would compile hundreds again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo demo-hub environment test test-long test-quick lint bench bench-photo sample-photo bench-sequences bench-faults bench-traced bench-traced-games bench-speed bench-robustness bench-strange bench-engines bench-players bench-calibration bench-games bench-judges bench-service bench-by-hand bench-lessons bench-hub bench-fuzz bench-doubts bench-dice bench-hardware bench-chaos bench-kill bench-latency bench-camera bench-machines try-trixie try-arm64 bench-evening bench-panel pictures rules tuning words messages docs diagram loop clean

demo: $(VENV)/ready  ## start a game with a simulated camera; the panel is on http://localhost:8000
	@$(BIN)/rinkside demo $(ARGS)

demo-hub: $(VENV)/ready-dev  ## start a database, a hub and four simulated tables; the wall is on http://localhost:8080
	@$(BIN)/python -m tools.demo_hub $(ARGS)

environment: $(VENV)/ready  ## only make .venv; with PI=1, on a Raspberry Pi, one that sees its packages: pins, picamera2
	@echo "$(VENV) is ready: $(BIN)/rinkside --help"

test: $(VENV)/ready-dev  ## run the tests, on all cores; style and types are tests too
	@$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal -m "not long"

test-long: $(VENV)/ready-dev  ## run those that `make test` leaves out: the same promises with more games, seeds and widths
	@$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal -m long

test-quick: $(VENV)/ready-dev  ## run what is not slow, on all cores
	@$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal -m "not slow"

lint: $(VENV)/ready-dev  ## style and types only
	@$(BIN)/ruff check .
	@$(BIN)/mypy

bench: $(VENV)/ready-dev  ## score photographs with known truth and write docs/ACCURACY.md
	@$(BIN)/python -m benchmarks accuracy

bench-photo: $(VENV)/ready-dev  ## measure photographs of Ice Boule without their lens, and copies of them, and write docs/PHOTO.md
	@$(BIN)/python -m benchmarks photo

bench-traced: $(VENV)/ready-tracing  ## path-trace tables, score them and write docs/TRACED.md; fetches Mitsuba, which needs LLVM: sudo apt install libllvm19
	@$(BIN)/python -m benchmarks traced

bench-traced-games: $(VENV)/ready-tracing  ## referee games whose tables are path-traced and write docs/TRACED_GAMES.md; needs what bench-traced does
	@$(BIN)/python -m benchmarks traced_games

bench-sequences: $(VENV)/ready-dev  ## referee filmed games and write docs/SEQUENCES.md
	@$(BIN)/python -m benchmarks sequences

bench-faults: $(VENV)/ready-dev  ## referee filmed games with one piece read badly at a time and write docs/FAULTS.md
	@$(BIN)/python -m benchmarks faults
	@$(BIN)/python -m benchmarks misread_start

bench-speed: $(VENV)/ready-dev  ## time reading against finding fiducials and write docs/SPEED.md
	@$(BIN)/python -m benchmarks speed

bench-robustness: $(VENV)/ready-dev  ## read photographs made worse and write docs/ROBUSTNESS.md
	@$(BIN)/python -m benchmarks robustness
	@$(BIN)/python -m benchmarks camera_places
	@$(BIN)/python -m benchmarks worse_films

bench-strange: $(VENV)/ready-dev  ## read photographs with things that are no pieces and in false lights, into docs/ROBUSTNESS.md
	@$(BIN)/python -m benchmarks strange_things

bench-engines: $(VENV)/ready-dev  ## time the rules of every game and write docs/ENGINES.md
	@$(BIN)/python -m benchmarks engines

bench-players: $(VENV)/ready-dev  ## let computer players play each other and write docs/PLAYERS.md
	@$(BIN)/python -m benchmarks players

bench-calibration: $(VENV)/ready-dev  ## calibrate simulated lenses, learn colours, measure sets of pieces and check made-up tables, and write what came of it into docs/CALIBRATION.md
	@$(BIN)/python -m benchmarks lens
	@$(BIN)/python -m benchmarks first_lens
	@$(BIN)/python -m benchmarks colours
	@$(BIN)/python -m benchmarks own_pieces
	@$(BIN)/python -m benchmarks check

bench-hardware: $(VENV)/ready-dev  ## time lamps beside the referee's loop and write the end of docs/HARDWARE.md
	@$(BIN)/python -m benchmarks hardware

bench-chaos: $(VENV)/ready-dev  ## attack, kill, fill and confuse the referee, on this machine alone, and write docs/CHAOS.md; takes ten minutes
	@$(BIN)/python -m benchmarks chaos

bench-kill: $(VENV)/ready-dev  ## kill the referee at 200 random moments and write what is left into docs/LOG.md
	@$(BIN)/python -m benchmarks kill

bench-latency: $(VENV)/ready-dev  ## time verdicts from the last movement to the panel, and what waiting costs, and write docs/LATENCY.md
	@$(BIN)/python -m benchmarks latency

bench-camera: $(VENV)/ready-dev  ## time what a picture of the Raspberry Pi's camera costs and write the end of docs/CAMERAS.md
	@$(BIN)/python -m benchmarks camera

bench-machines: $(VENV)/ready-dev  ## install and play on Debian trixie, also emulated for arm64, and write docs/MACHINES.md; needs root, debootstrap and qemu-user-static 8 or newer
	@$(BIN)/python -m benchmarks machines

bench-lessons: $(VENV)/ready-dev  ## do every lesson in Chromium, in every language, and write docs/LESSONS.md
	@$(BIN)/python -m benchmarks lessons

bench-by-hand: $(VENV)/ready-dev  ## play five whole games by hand on the virtual table, in Chromium, and write it into docs/PANEL.md
	@$(BIN)/python -m benchmarks by_hand

bench-service: $(VENV)/ready-dev  ## run the service under a systemd of its own, kill it in every way, and write the end of docs/SERVICE.md; needs root and debootstrap
	@$(BIN)/python -m benchmarks service

try-trixie: $(VENV)/ready-dev  ## the same for this machine's architecture alone, with every test, into build/machines
	@$(BIN)/python -m benchmarks machines --only "$$(dpkg --print-architecture)" --tests true --out build/machines/native

try-arm64: $(VENV)/ready-dev  ## the same for arm64 alone, into build/machines
	@$(BIN)/python -m benchmarks machines --only arm64 --out build/machines/arm64

bench-evening: $(VENV)/ready-dev  ## referee eight simulated hours and write what memory and disk they take into docs/LOG.md
	@$(BIN)/python -m benchmarks evening

bench-games: $(VENV)/ready-dev  ## referee whole simulated games of all kinds and write docs/GAMES.md; goes on where it was broken off
	@$(BIN)/python -m benchmarks games

bench-judges: $(VENV)/ready-dev  ## referee simulated games without pictures, told what lies there as it is or with faults, and write docs/JUDGES.md
	@$(BIN)/python -m benchmarks judges

bench-hub: $(VENV)/ready-dev  ## kill forwarders, hub and database while tables play, time the wall, and write the end of docs/HUB.md
	@$(BIN)/python -m benchmarks hub_once
	@$(BIN)/python -m benchmarks hub_faults
	@$(BIN)/python -m benchmarks hub_load

bench-fuzz: $(VENV)/ready-dev  ## do 20,000 random acts a game before the judges, with side effects, and write docs/FUZZ.md
	@$(BIN)/python -m benchmarks fuzz

bench-doubts: $(VENV)/ready-dev  ## do 2,000 random acts a game before judges that are not sure of one piece, and write docs/DOUBTS.md
	@$(BIN)/python -m benchmarks doubts

bench-dice: $(VENV)/ready-dev  ## read drawn dice and write docs/DICE.md
	@$(BIN)/python -m benchmarks dice

bench-panel: $(VENV)/ready-dev  ## load the panel with listeners, time its pages, ask it anything; writes the end of docs/PANEL.md
	@$(BIN)/python -m benchmarks panel
	@$(BIN)/python -m benchmarks page_paints
	@$(BIN)/python -m pytest -q tests/webui/api/test_openapi.py --hypothesis-profile=explore

pictures: $(VENV)/ready-dev  ## photograph every page, a newcomer's way and every game's table, at three widths into docs/pictures/pages
	@$(BIN)/python -m tools.pages
	@$(BIN)/python -m tools.newcomer
	@$(BIN)/python -m tools.touched_tables

sample-photo: $(VENV)/ready-dev  ## draw the photograph that `rinkside measure --sample` measures
	@$(BIN)/python -m tools.mat_photograph

rules: $(VENV)/ready-dev  ## run the tests that hold the sentences of the printed rules and the rulings, and write docs/RULES.md
	@$(BIN)/python -m tools.rules

tuning: $(VENV)/ready-dev  ## write docs/tuning.md, how each tuned constant was chosen, from docs/tuning.toml
	@$(BIN)/python -m tools.tuning

words: $(VENV)/ready-dev  ## bring the catalogues in webui/translations in step with what templates and code say, and compile them
	@PYTHONPATH=. $(BIN)/pybabel -q extract -F pyproject.toml --no-location --no-wrap --project Rinkside --version 0.2 -o $(VENV)/rinkside.pot .
	@$(BIN)/pybabel -q update -i $(VENV)/rinkside.pot -d webui/translations -D rinkside --no-wrap --ignore-obsolete --ignore-pot-creation-date
	@$(BIN)/pybabel -q compile -d webui/translations -D rinkside
	@$(BIN)/pybabel -q compile -d webui/translations -D click

messages: $(VENV)/ready-dev  ## write docs/MESSAGES.md, every sentence in three languages side by side
	@$(BIN)/python -m tools.messages_page

docs: $(VENV)/ready-dev  ## build the documentation as a site into build/site, offline
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo "build/site/index.html is ready"

diagram: $(VENV)/ready-dev  ## draw who imports whom into docs/architecture.md
	@$(BIN)/python -m tests.support.import_graph

loop: $(VENV)/ready-dev  ## write docs/LOOP.md from the states of the referee's loop
	@$(BIN)/python -m tools.loop_page

clean:  ## remove the environment and all that was built
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# picamera2 and, for Python 3.13, lgpio come from Raspberry Pi OS only.  PI=1 shows the system's packages to the environment;
# what pyproject.toml needs comes first, so that NumPy 2 stands beside a simplejpeg that was built for it (Bookworm's was not).
$(VENV)/made-for:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "make: expected Python 3.11 or newer, $(PYTHON) is '$$($(PYTHON) --version 2>&1)'; install one and run: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "make: $(PYTHON) cannot make environments; on Debian and Raspberry Pi OS run: sudo apt install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV) for $(PYTHON); the first time takes a minute or two and needs the internet."
	@$(PYTHON) -m venv --clear $(if $(PI),--system-site-packages )$(VENV) || \
	  { echo "make: $(PYTHON) could not make $(VENV); is the disk full or this folder read-only?" >&2; exit 1; }
	@printf '%s\n' '$(THIS)' >$@

$(VENV)/ready: $(VENV)/made-for pyproject.toml
	@$(PIP_INSTALL) --editable . || $(NOT_FETCHED)
	@touch $@

$(VENV)/ready-dev: $(VENV)/made-for pyproject.toml
	@$(PIP_INSTALL) --editable '.[dev]' || $(NOT_FETCHED)
	@touch $@ $(VENV)/ready

$(VENV)/ready-tracing: $(VENV)/made-for pyproject.toml
	@$(PIP_INSTALL) --editable '.[dev,tracing]' || $(NOT_FETCHED)
	@touch $@ $(VENV)/ready $(VENV)/ready-dev

NOT_FETCHED = { echo "make: packages could not be fetched (above is why); this step needs the internet: run make again when there is some" >&2; exit 1; }
