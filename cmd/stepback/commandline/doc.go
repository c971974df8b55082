// Package commandline parses a command line into a struct whose tags define the verbs, flags and arguments, and
// writes their help. For the tags that this program uses, it behaves like kong and has kong's messages; tests compare
// the two. It exists because kong calls methods by name, so the linker has to keep every exported method of a program
// (docs/decisions/046-command-line.md).
//
// A field is a verb if it is a struct with the tag cmd, an argument if it has the tag arg, and otherwise a flag. The
// fields of an embedded struct belong to the struct that embeds it. The tags:
//
//	cmd          the field is a verb; a method Help() string adds details to help
//	arg          the field is an argument; it is required unless it also has optional or default
//	optional     the argument may be missing
//	required     the flag must be given, on the line or in the environment
//	name         instead of the field's name in lower case, with dashes between its words
//	help         ${enum} and ${default} are replaced by those tags, $$ by a dollar sign
//	placeholder  represents a value in the help of a flag
//	default      the value if none is given; for a verb, withargs: it is used if no verb is named
//	env          names of variables, separated by commas; the first one that is set is the default
//	enum         the allowed values, separated by commas
//	type         path: made absolute, - stays; existingfile, existingdir: such a path, of a file or directory
//	short        a letter for the flag after a single dash
//	sep          separates the elements of a slice, instead of a comma; none: one element is given each time
//	xor          at most one of the flags with this word may be given
//	group        the heading under which the help lists the verb or flag
//	hidden       the help omits it
//
// A field is a string, bool, int, int64, uint64, float64, time.Duration or encoding.TextUnmarshaler, a pointer to
// one, a slice of them, or a map of strings.
//
// The package never runs a verb, and writes only to what is passed to it.
package commandline
