package csvimport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// PutJSON writes a value as a JSON object.
func PutJSON(ctx context.Context, objects Objects, at Location, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return objects.Put(ctx, at, bytes.NewReader(text), int64(len(text)), "application/json")
}

// GetJSON reads a value that PutJSON wrote.
func GetJSON(ctx context.Context, objects Objects, at Location, value any) error {
	object, err := objects.Get(ctx, at, "")
	if err != nil {
		return err
	}
	defer object.Body.Close()
	if err := json.NewDecoder(object.Body).Decode(value); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}
