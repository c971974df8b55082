// Package chart draws what the laboratory finds: goodput over time, the map of where retries make an outage endless,
// and the comparison of jitter. A [Figure] is a list of shapes that is written as SVG or as PNG, so that both show
// the same. The package runs no experiments; it draws their results.
package chart
