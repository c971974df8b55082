package itembatcher

import (
	"strings"

	"stepback/jsonvalue"
)

// All groups all items at once and returns the inputs of the batches as a JSON array. The error is a *ConfigError or
// an *ItemTooLargeError.
func All(cfg Config, items []jsonvalue.Value) (string, error) {
	b, err := New(cfg)
	if err != nil {
		return "", err
	}
	var inputs []string
	for _, item := range items {
		batch, full, err := b.Add(item.AppendJSON(nil))
		if err != nil {
			return "", err
		}
		if full {
			inputs = append(inputs, batch.Input)
		}
	}
	if batch, some := b.Flush(); some {
		inputs = append(inputs, batch.Input)
	}
	return "[" + strings.Join(inputs, ",") + "]", nil
}
