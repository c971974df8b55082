package workspace

import "runtime/debug"

// program holds the values that main registers.
var program struct {
	released string
	verbs    map[string]func() DirectoryVerb
}

// Register sets the released version and the verbs that another process can run. released is empty for a build that
// is not a release; verbs is keyed by the names in requests. The command calls Register once, before its first
// verb.
func Register(released string, verbs map[string]func() DirectoryVerb) {
	program.released, program.verbs = released, verbs
}

// Version returns the version of the release, or of the module that this program was built from.
func Version() string {
	if program.released != "" {
		return program.released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
