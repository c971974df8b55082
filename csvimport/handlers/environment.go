package handlers

import (
	"io"
	"log/slog"
	"os"
	"strconv"

	"stepback/csvimport"
	"stepback/retry"
)

// MaxBytes returns CSV_MAX_BYTES in bytes, or 0 if it is not set. It fails with InvalidInput unless the value is a
// whole number from 1 to csvimport.MaxCopyBytes.
func MaxBytes() (int64, error) {
	text := os.Getenv("CSV_MAX_BYTES")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > csvimport.MaxCopyBytes {
		return 0, csvimport.Fail(retry.InvalidInput,
			"CSV_MAX_BYTES is %q; set it to a number of bytes from 1 to %d, or leave it unset for 104857600", text,
			int64(csvimport.MaxCopyBytes))
	}
	return n, nil
}

// Log returns a logger that writes JSON lines to standard error, where Lambda collects them. The lowest level is
// LOG_LEVEL (DEBUG, INFO, WARN or ERROR), or INFO if that is not set. For any other value it logs a message and uses
// INFO.
func Log() *slog.Logger { return logTo(os.Stderr, os.Getenv("LOG_LEVEL")) }

func logTo(w io.Writer, level string) *slog.Logger {
	var lowest slog.Level // INFO
	var err error
	if level != "" {
		err = lowest.UnmarshalText([]byte(level))
	}
	log := slog.New(WithRequest(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: lowest})))
	if err != nil {
		log.Warn("LOG_LEVEL is not valid; set it to DEBUG, INFO, WARN or ERROR", "is", level)
	}
	return log
}
