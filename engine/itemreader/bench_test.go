package itemreader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func benchmark(b *testing.B, cfg Config, row func(i int) string, header, footer string) {
	const rows = 100_000
	var text strings.Builder
	text.WriteString(header)
	for i := range rows {
		text.WriteString(row(i))
	}
	text.WriteString(footer)
	objects := memoryObjects{"f": text.String()}
	cfg.Resource, cfg.Bucket, cfg.Key = getObject, "data", "f"
	ctx := context.Background()
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(ctx, objects, cfg)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, err = r.Next(ctx)
		}
		if !errors.Is(err, io.EOF) || n < rows+1 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkCSV(b *testing.B) {
	benchmark(b, Config{InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"},
		func(i int) string { return fmt.Sprintf("user-%06d,%d,%d\n", i, i%17, i%5) },
		"user_id,login_count,post_count\n", "")
}

func BenchmarkCSVQuoted(b *testing.B) {
	benchmark(b, Config{InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"},
		func(i int) string { return fmt.Sprintf("\"user-%06d\",\"%d\",\"%d\"\n", i, i%17, i%5) },
		"user_id,login_count,post_count\n", "")
}

func BenchmarkCSV20Columns(b *testing.B) {
	header := make([]string, 20)
	for i := range header {
		header[i] = fmt.Sprintf("column_%d", i)
	}
	benchmark(b, Config{InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"},
		func(int) string { return strings.Repeat("1234,", 19) + "5\n" }, strings.Join(header, ",")+"\n", "")
}

func BenchmarkJSON(b *testing.B) {
	benchmark(b, Config{InputType: "JSON"},
		func(i int) string {
			return fmt.Sprintf(`{"user_id":"user-%06d","login_count":%d,"post_count":%d},`, i, i%17, i%5)
		}, "[",
		"null]")
}
