//go:build race

package simulation

// raceDetector says whether the tests were built with it.
const raceDetector = true
