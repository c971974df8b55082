package database_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestFunctionsOnAWSLinkNoSQLite lists the packages linked into the functions as make lambdas-arm64 builds them.
func TestFunctionsOnAWSLinkNoSQLite(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "lambda.norpc,nosqlite", "stepback/lambdas/...")
	out, err := list.Output()
	if err != nil {
		t.Skipf("the go command cannot list packages here: %v", err)
	}
	for pkg := range strings.Lines(string(out)) {
		if strings.Contains(pkg, "sqlite") {
			t.Errorf("%s is linked", strings.TrimSpace(pkg))
		}
	}
}
