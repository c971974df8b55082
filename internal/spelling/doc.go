// Package spelling finds the name that a misspelt one was meant to be. It knows no names of its own.
package spelling
