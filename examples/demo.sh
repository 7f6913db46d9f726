#!/bin/sh
# What jaxgames is for, in three short pieces: demo.sh FOLDER
set -eu
examples=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

echo "1. A protocol that fails. Four philosophers sit at a table, with a fork between any"
echo "   two. Does whoever is hungry eat at last?"
show python "$examples/model_checking.py" table.kripke
show jaxgames check table.kripke --ltl "G(hungry -> F eats)" --verify --force \
  --draw play.svg || test $? = 1  # 1: the property is violated

printf '\n2. The same question as a game. An elevator serves the last request first: is the\n'
echo "   top floor served whenever it is requested again and again? Player 0 wants it to be."
show jaxgames generate elevator 4 --no-fair --force -o elevator.pg.gz
show jaxgames solve elevator.pg.gz --verify -o elevator.sol --draw elevator.svg
show jaxgames verify elevator.pg.gz elevator.sol
# The first line after the header is vertex 0 and its winner.
case $(sed -n 2p elevator.sol) in
  "0 0"*) echo "=> It is: player 0 wins from the start." ;;
  *) echo "=> It is not: player 1 wins from the start." ;;
esac
show jaxgames generate elevator 2 --no-fair --force -o small.pg
show jaxgames solve small.pg --verify --draw small.svg

printf '\n3. Ten thousand games in one call.\n'
show python "$examples/ten_thousand.py"

printf '\nPictures, to be opened in a browser:\n'
for picture in play small elevator; do
  echo "  $PWD/$picture.svg"
done
