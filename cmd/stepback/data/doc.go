// Package data implements the verbs that check, compact, repair and export a data directory.
package data
