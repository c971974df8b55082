package handlers

import (
	"log/slog"
	"os"
	"strconv"

	"stepback/csvimport"
	"stepback/retrypatterns"
)

// MaxBytes reads CSV_MAX_BYTES, in bytes; 0 when it is not set. Anything but a
// positive whole number is InvalidInput.
func MaxBytes() (int64, error) {
	text := os.Getenv("CSV_MAX_BYTES")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, csvimport.Fail(retrypatterns.InvalidInput, "CSV_MAX_BYTES is %q; set it to a number of bytes above 0, or leave it unset for 104857600", text)
	}
	return n, nil
}

// Log writes JSON lines to standard error, where Lambda collects them.
func Log() *slog.Logger { return slog.New(slog.NewJSONHandler(os.Stderr, nil)) }
