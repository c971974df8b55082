// Package standin carries out functions by what stands in for their deployment packages on a laptop: a command of the
// shell, a URL to post to, or a bootstrap binary. It keeps nothing; functions that the Lambda API makes are those of
// package functions.
package standin
