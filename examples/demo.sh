#!/bin/sh
# Model checking of an elevator, from the game to its picture: demo.sh FOLDER
#
# The property: if the button of the top floor is pressed infinitely often, the elevator is
# there infinitely often. A fair elevator serves requests in the order in which they came;
# an unfair one serves the last request first. Player 0 wins vertex 0 if it holds.
set -eu
mkdir -p "$1"
cd "$1"

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

model_check() {  # name floors option
  show jaxgames generate elevator "$2" "$3" --force -o "$1.pg.gz"
  show jaxgames info "$1.pg.gz"
  show jaxgames solve "$1.pg.gz" --verify -o "$1.sol" --draw "$1.svg"
  show jaxgames verify "$1.pg.gz" "$1.sol"
  # The first line after the header is vertex 0 and its winner.
  case $(sed -n 2p "$1.sol") in
    "0 0"*) echo "=> The property holds of the $1 elevator: player 0 wins." ;;
    *) echo "=> The property fails for the $1 elevator: player 1 wins." ;;
  esac
}

model_check fair 6 --fair
model_check unfair 6 --no-fair

# The same with two floors is small enough to be drawn, with regions and strategies.
show jaxgames generate elevator 2 --no-fair --force -o small.pg
show jaxgames solve small.pg --verify --draw small.svg

printf '\nPictures, to be opened in a browser:\n'
for picture in small fair unfair; do
  echo "  $PWD/$picture.svg"
done
