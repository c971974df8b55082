package workspace

// verbs holds the verbs that main registers.
var verbs map[string]func() DirectoryVerb

// Register sets the verbs that another process can run, keyed by their names in requests. The command calls Register
// once, before its first verb.
func Register(travelling map[string]func() DirectoryVerb) { verbs = travelling }
