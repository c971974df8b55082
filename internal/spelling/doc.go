// Package spelling finds the name that a misspelt one was probably meant to be. It knows no names itself.
package spelling
