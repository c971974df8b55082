// Package predict estimates the chance that another attempt succeeds (M11), and reports how good the estimates are.
//
// [Train] fits four models and selects the simplest that none of the others beats on held-out data: the base rate; a
// rate per error and attempt, shrunk towards the base rate; a ridge logistic regression calibrated by Platt's method;
// and a random forest of classification trees, the source design's model, with its probabilities calibrated the same
// way. Data are split by time (train, calibrate, test), never at random, because the attempts of one outage resemble
// one another. A model beats a simpler one only if the 95 % interval of the difference of their Brier scores,
// bootstrapped by spells of five minutes, lies below 0. If none beats the base rate, [Model.BeatsBaseRate]
// returns false, and the model should not be used.
//
// Use a probability to decide by expected value (package worth), never by a fixed threshold. An example that lacks a
// feature which no training example lacked gets the base rate, and the result says so. Everything is seeded: the same
// data give the same model file.
package predict
