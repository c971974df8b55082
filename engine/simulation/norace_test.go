//go:build !race

package simulation

// raceDetector is true if the tests were built with the race detector.
const raceDetector = false
