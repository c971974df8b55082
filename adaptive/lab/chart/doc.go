// Package chart draws the results of the laboratory: goodput over time, the map of where retries make an outage
// endless, and the comparison of jitter. A [Figure] is a list of shapes that is written as SVG or as PNG, so that
// both look the same. The package runs no experiments.
package chart
