// Command typecheck reports type errors of packages and their tests on other systems. It is much faster than building
// them, because it generates no code, and so covers all packages.
//
//	go run ./internal/typecheck -systems windows,darwin ./...
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	systems := flag.String("systems", "windows,darwin", "values of GOOS, separated by commas")
	flag.Parse()
	failed := false
	for system := range strings.SplitSeq(*systems, ",") {
		list, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
				packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
			Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
			Tests: true,
		}, flag.Args()...)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			os.Exit(2)
		}
		if n := packages.PrintErrors(list); n > 0 {
			fmt.Fprintf(os.Stderr, "%s: %d errors\n", system, n)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}
