package itembatcher_test

import (
	"errors"
	"fmt"
	"testing"

	"stepback/engine/internal/itembatcher"
	"stepback/jsonvalue"
)

func ExampleAll() {
	items := []jsonvalue.Value{jsonvalue.OfInt(1), jsonvalue.OfInt(2), jsonvalue.OfInt(3)}
	inputs, err := itembatcher.All(itembatcher.Config{MaxItemsPerBatch: 2, BatchInput: `"x"`}, items)
	fmt.Println(inputs, err)
	// Output: [{"BatchInput":"x","Items":[1,2]},{"BatchInput":"x","Items":[3]}] <nil>
}

func TestAllOfNothingAndOfTooMuch(t *testing.T) {
	t.Parallel()
	if got, err := itembatcher.All(itembatcher.Config{}, nil); got != "[]" || err != nil {
		t.Errorf("no items: got %q, %v", got, err)
	}
	var large *itembatcher.ItemTooLargeError
	if _, err := itembatcher.All(itembatcher.Config{MaxInputBytesPerBatch: 5},
		[]jsonvalue.Value{jsonvalue.OfInt(1)}); !errors.As(err, &large) {
		t.Errorf("an item that does not fit: got %v", err)
	}
	var wrong *itembatcher.ConfigError
	if _, err := itembatcher.All(itembatcher.Config{MaxItemsPerBatch: -1}, nil); !errors.As(err, &wrong) {
		t.Errorf("a negative number: got %v", err)
	}
}
