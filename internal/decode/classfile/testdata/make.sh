#!/bin/sh
# Compiles the model, without debugging information, and writes down what Java 17 says of its classes.
set -eu
cd "$(dirname "$0")"
rm -rf classes
javac --release 17 -g:none -encoding UTF-8 -d classes $(find model -name "*.java")
all=$(mktemp)
java -Xshare:off --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.io=ALL-UNNAMED Describe.java "$all" classes
awk -v RS= -v ORS='\n\n' '/^class (p|org.nustaq|org.apache)\./' "$all" > java.txt
rm "$all"
