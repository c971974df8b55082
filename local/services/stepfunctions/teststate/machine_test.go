package teststate

import (
	"slices"
	"testing"

	"stepback/jsonvalue"
)

func TestTargetsAreTheStatesThatAStateGoesOnTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state string
		want  []string
	}{
		"next":     {`{"Type":"Pass","Next":"B"}`, []string{"B"}},
		"end":      {`{"Type":"Pass","End":true}`, nil},
		"choice":   {`{"Type":"Choice","Default":"D","Choices":[{"Next":"A"},{"Next":"B"}]}`, []string{"D", "A", "B"}},
		"catcher":  {`{"Type":"Task","Next":"B","Catch":[{"Next":"C"}]}`, []string{"B", "C"}},
		"nonsense": {`{"Next":7,"Catch":"none","Choices":[1]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := jsonvalue.Parse(c.state)
			if err != nil {
				t.Fatal(err)
			}
			if got := targets(v); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMachineAroundASingleState(t *testing.T) {
	t.Parallel()
	v, err := jsonvalue.Parse(`{"Type":"Pass","Next":"B"}`)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"StartAt":"StateName","States":{"StateName":{"Type":"Pass","Next":"B"},"B":{"Type":"Succeed"}}}`
	if got := machineAround(v); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
