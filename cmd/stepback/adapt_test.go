package main

import "testing"

func TestAdapt(t *testing.T) {
	t.Parallel()
	const machine = "arn:aws:states:us-east-1:123456789012:stateMachine:saves"
	stepback(t, "adapt", "--state-machine", machine, "--rows", t.TempDir(), "--history").
		ends(t, 0, "no records: adapt has neither measured nor changed anything")
	stepback(t, "adapt", "--state-machine", machine, "--rows", t.TempDir(), "--watch", "--every", "1s").ends(t, 2)
	stepback(t, "adapt", "--state-machine", machine, "--endpoint", "localhost").ends(t, 2)
	stepback(t, "adapt", "--state-machine", machine, "--rows", t.TempDir(), "--capacity", "-1").ends(t, 2)
	stepback(t, "adapt", "--state-machine", machine, "--once", "--watch").ends(t, 2)
	stepback(t, "adapt", "--state-machine", machine, "--rows", t.TempDir(), "--value", "-1").ends(t, 2)
	stepback(t, "adapt", "--state-machine", machine, "--rows", t.TempDir(), "--value", "1", "--region", "mars").ends(t, 2)
	stepback(t, "adapt").ends(t, 2)
	// The endpoint is not listening: nothing can be read, and nothing is changed.
	stepback(t, "adapt", "--state-machine", machine, "--rows", t.TempDir(), "--data", t.TempDir(),
		"--endpoint", "http://127.0.0.1:1").ends(t, 1)
}
