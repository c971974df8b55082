package engine_test

import (
	"context"
	"testing"

	"stepback/engine"
	"stepback/engine/history"
)

// TestTheLargestNumbersOfAMap uses Map limits too large for a float64, in the definition and in the input: they mean
// no limit.
func TestTheLargestNumbersOfAMap(t *testing.T) {
	t.Parallel()
	const (
		inline = `"ItemProcessor":{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
		spread = `"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{` + call + `,"End":true}}}`
	)
	for name, fields := range map[string]string{
		"concurrency of an inline Map":             `"MaxConcurrency":9223372036854775807,` + inline,
		"concurrency of an inline Map by path":     `"ItemsPath":"$.items","MaxConcurrencyPath":"$.most",` + inline,
		"concurrency of a distributed Map by path": `"ItemsPath":"$.items","MaxConcurrencyPath":"$.most","ToleratedFailurePercentage":100,` + spread,
		"tolerated failures by path": `"ItemsPath":"$.items","ToleratedFailureCountPath":"$.most",` +
			spread,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(context.Context, *engine.Task) (string, error) {
				return "",
					&engine.Failure{Name: "Boom"}
			})
			input := `{"items":[1,2,3],"most":9223372036854775807}`
			if name == "concurrency of an inline Map" {
				input = `[1,2,3]`
			}
			x := b.run(t, `{"StartAt":"M","States":{"M":{"Type":"Map",`+fields+`,"End":true}}}`, input)
			if x.Status != history.Succeeded {
				t.Errorf("%s: %+v", x.Status, x.Failure)
			}
		})
	}
}
