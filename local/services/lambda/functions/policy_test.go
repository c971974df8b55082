package functions_test

import (
	"testing"

	"stepback/local/services/lambda/functions"
)

func TestAPolicySurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, functions.Options{})
	create(t, s, python(t, source("one")))
	if _, err := s.AddPermission(t.Context(), home, "F", "", &functions.PermissionInput{StatementID: "a",
		Action: "lambda:InvokeFunction", Principal: "sns.amazonaws.com"}); err != nil {
		t.Fatal(err)
	}
	before, revision, err := s.Policy(home, "F", "")
	if err != nil {
		t.Fatal(err)
	}
	closeService(t, s)
	s = open(t, dir, functions.Options{})
	after, kept, err := s.Policy(home, "F", "")
	if err != nil || after != before || kept != revision {
		t.Errorf("%s, %s, %v; before %s, %s", after, kept, err, before, revision)
	}
}
