package tags_test

import (
	"maps"
	"strconv"
	"testing"

	"stepback/local/services/stepfunctions/tags"
	"stepback/local/services/stepfunctions/wiretest"
)

func TestSet(t *testing.T) {
	t.Parallel()
	have := map[string]string{"a": "1", "b": "2"}
	if err := tags.Set("arn", have, []tags.Tag{{Key: "b", Value: "3"}}); err != nil ||
		!maps.Equal(have, map[string]string{"a": "1", "b": "3"}) {
		t.Errorf("%v, %v", have, err)
	}
	var many []tags.Tag
	for i := range 49 {
		many = append(many, tags.Tag{Key: strconv.Itoa(i)})
	}
	if err := tags.Set("arn", have, many); err == nil || err.Error() != "TooManyTags: Too many tags: 'arn'" {
		t.Error(err)
	}
}

// TestTagsOverTheLimit has a request that is refused: it changes no tag.
func TestTagsOverTheLimit(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	machine := w.Machine(t, "m", wiretest.Pass)
	activity := w.Call(t, "CreateActivity", map[string]any{"name": "a"})["activityArn"]
	many := make([]any, 50)
	for i := range many {
		many[i] = map[string]any{"key": strconv.Itoa(i), "value": "v"}
	}
	for _, arn := range []any{machine, activity} {
		one := []any{map[string]any{"key": "k", "value": "v"}}
		if a := w.Call(t, "TagResource", map[string]any{"resourceArn": arn, "tags": one}); len(a) > 0 {
			t.Fatal(a)
		}
		if a := w.Call(t, "TagResource", map[string]any{"resourceArn": arn, "tags": many}); a["__type"] != "TooManyTags" {
			t.Errorf("%v: %v", arn, a)
		}
		if a := w.Call(t, "ListTagsForResource", map[string]any{"resourceArn": arn}); len(a["tags"].([]any)) != 1 {
			t.Errorf("%v: %v", arn, a)
		}
		if a := w.Call(t, "UntagResource", map[string]any{"resourceArn": arn, "tagKeys": []any{"k"}}); len(a) > 0 {
			t.Errorf("%v: %v", arn, a)
		}
		if a := w.Call(t, "ListTagsForResource", map[string]any{"resourceArn": arn}); len(a["tags"].([]any)) != 0 {
			t.Errorf("%v: %v", arn, a)
		}
	}
}
