package stepfunctions_test

import (
	"context"
	"testing"

	"stepback/local/services/stepfunctions"
	"stepback/local/services/stepfunctions/activities"
)

// documents implements Documents in memory.
type documents map[string][]byte

func (d documents) PutDocument(key string, value []byte) error { d[key] = value; return nil }

func (d documents) DeleteDocument(key string) error { delete(d, key); return nil }

func (d documents) EachDocument(_ context.Context, prefix string, each func(string, []byte) error) error {
	for k, v := range d {
		if len(k) >= len(prefix) && k[:len(prefix)] == prefix {
			if err := each(k, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestActivitiesAreKept(t *testing.T) {
	t.Parallel()
	kept := documents{}
	store, err := stepfunctions.Keep(t.Context(), kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := store.PutActivity(&activities.Activity{ARN: "arn:" + name, Name: name,
			Tags: map[string]string{"k": name}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.DeleteActivity("arn:a"); err != nil {
		t.Fatal(err)
	}
	again, err := stepfunctions.Keep(t.Context(), kept)
	if err != nil {
		t.Fatal(err)
	}
	found, err := again.Activities("arn:")
	if err != nil || len(found) != 1 || found[0].Name != "b" || found[0].Tags["k"] != "b" {
		t.Errorf("%+v, %v", found, err)
	}
	for arn, want := range map[string]bool{"arn:a": false, "arn:b": true} {
		if got, err := stepfunctions.HasActivity(again)(arn); got != want || err != nil {
			t.Errorf("%s: %t, %v", arn, got, err)
		}
	}
}
