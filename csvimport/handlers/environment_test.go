package handlers

import (
	"bytes"
	"strings"
	"testing"
)

func TestLogLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{
		"":      "INFO WARN ERROR",
		"INFO":  "INFO WARN ERROR",
		"WARN":  "WARN ERROR",
		"error": "ERROR",
		"DEBUG": "DEBUG INFO WARN ERROR",
		"loud":  "LOG_LEVEL is not valid; set it to DEBUG, INFO, WARN or ERROR INFO WARN ERROR",
	} {
		var out bytes.Buffer
		log := logTo(&out, level)
		log.Debug("DEBUG")
		log.Info("INFO")
		log.Warn("WARN")
		log.Error("ERROR")
		var got []string
		for line := range strings.Lines(out.String()) {
			_, message, _ := strings.Cut(line, `"msg":"`)
			message, _, _ = strings.Cut(message, `"`)
			got = append(got, message)
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%q lets through %q, want %q", level, all, want)
		}
	}
}
