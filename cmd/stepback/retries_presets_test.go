package main

import (
	"testing"

	"stepback/cmd/stepback/exit"
)

func TestRetriesPresets(t *testing.T) {
	t.Parallel()
	stepback(t, "retries", "presets").ends(t, exit.OK,
		"preset retries interval rate cap jitter mean wait longest wait longest call for",
		"interactive 3 100ms 2 3s PROPORTIONAL 0.2 770ms 840ms – a person is waiting",
		"external_api 3 1s 2 30s FULL 3.5s 7s –",
		"message_queue 10 1s 2 1m DECORRELATED",
		"aggressive 5 1s 2 1m FULL 15.5s 31s",
		"add the attempts with --timeout")
	stepback(t, "retries", "presets", "--timeout", "2s").ends(t, exit.OK, "external_api 3 1s 2 30s FULL 3.5s 7s 15s")
	stepback(t, "retries", "presets", "external_api", "--timeout", "2s").ends(t, exit.OK,
		"external_api, for calls to an external API: 3 retries, 1s ×2 up to 30s, jitter FULL",
		"3 0s 2s 4s", "all 0s 3.5s 7s", "with 4 attempts of 2s each the call takes at most 15s")
	stepback(t, "retries", "presets", "database", "--json").ends(t, exit.OK,
		`"name": "database"`, `"longestWait": 15.5`, `"longestCall": 15.5`)
	stepback(t, "retries", "presets", "nothing").complains(t, exit.Usage,
		`no preset "nothing"; there are interactive, standard`)
	stepback(t, "retries", "presets", "--timeout=-2s").complains(t, exit.Usage, "--timeout is -2s")
}
