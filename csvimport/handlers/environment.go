package handlers

import (
	"io"
	"log/slog"
	"os"
	"strconv"

	"stepback/csvimport"
	"stepback/csvimport/validate"
	"stepback/retry"
	"stepback/statemachine"
)

// Sizes are the sizes of files that ValidateCSVFile works with, in bytes. 0 means the default.
type Sizes struct {
	Max  int64 // of a file; default validate.DefaultMaxBytes
	Part int64 // above which a file is cut into parts; default statemachine.DefaultPartBytes
}

// SizesFrom returns the values of CSV_MAX_BYTES and CSV_PART_BYTES in an environment. It fails with InvalidInput unless
// each is unset or a whole number of bytes: CSV_MAX_BYTES from 1 to validate.MaxFileBytes, CSV_PART_BYTES from
// 1 to statemachine.MaxPartBytes.
func SizesFrom(getenv func(string) string) (Sizes, error) {
	most, err := bytesIn(getenv, "CSV_MAX_BYTES", validate.DefaultMaxBytes, validate.MaxFileBytes)
	if err != nil {
		return Sizes{}, err
	}
	part, err := bytesIn(getenv, "CSV_PART_BYTES", statemachine.DefaultPartBytes, statemachine.MaxPartBytes)
	return Sizes{most, part}, err
}

func bytesIn(getenv func(string) string, name string, otherwise, most int64) (int64, error) {
	text := getenv(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > most {
		return 0, csvimport.Fail(retry.InvalidInput,
			"%s is %q; set it to a number of bytes from 1 to %d, or leave it unset for %d", name, text, most, otherwise)
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
