package functions_test

import (
	"testing"

	"stepback/local/services/lambda/functions"
)

// A function finds its role's credentials in its environment.
func TestAFunctionFindsTheKeysOfItsRole(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{Keys: func(role, function string) (map[string]string, error) {
		return map[string]string{"AWS_ACCESS_KEY_ID": role, "AWS_SESSION_TOKEN": function}, nil
	}})
	create(t, s, python(t, "import os\n\ndef handler(event, context):\n"+
		"    return [os.environ['AWS_ACCESS_KEY_ID'], os.environ['AWS_SESSION_TOKEN']]\n"))
	const want = `["arn:aws:iam::000000000000:role/r", "F"]`
	if got := string(invoke(t, s, "F", `{}`).Payload); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
