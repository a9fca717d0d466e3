// Package truth holds no code: its tests compare what dubbo-wire reads from the committed captures with what the Java
// side logged at its codec while they were recorded (testdata/captures, testdata/rig). No -update rewrites that log.
package truth
