package maprun

import "testing"

// TestChildNames pins the names of child executions, which a Map Run that resumes after an update must find again.
func TestChildNames(t *testing.T) {
	t.Parallel()
	n := newChildNames("arn:aws:states:us-east-1:000000000000:mapRun:m/Each:1", Machine{
		ARN: "arn:aws:states:us-east-1:000000000000:stateMachine:m/Each",
	})
	for first, want := range map[int64]string{
		0:           "115d581d-c2fe-8000-8000-0000003f410c",
		1:           "115d581d-c2fe-8000-8000-00000058ccd2",
		123_456_789: "115d581d-c2fe-8000-8001-d6f34550dd78",
		1<<52 - 1:   "115d581d-c2fe-8fff-bfff-fffffff7872d",
	} {
		name, arn := n.of(first)
		if name != want || arn != "arn:aws:states:us-east-1:000000000000:execution:m/Each:"+want {
			t.Errorf("the child execution of item %d is %s, %s", first, name, arn)
		}
	}
}
