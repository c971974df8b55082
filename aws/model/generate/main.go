// Command generate writes models.zip, the API models of all AWS services in the format of package model. It
// converts them from botocore's models (Apache-2.0). Its input is an archive with a file NAME.json for each
// service, or an archive that contains botocore's folder data, such as its wheel. It is not used at run time.
package main

import (
	"archive/zip"
	"cmp"
	"compress/flate"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"stepback/aws/model/botocore"
)

func main() {
	models := flag.String("models", "", "an archive of NAME.json, or one with botocore/data/NAME/VERSION/service-2.json")
	out := flag.String("out", "models.zip", "the file to write")
	schemas := flag.String("add", "", "extend the file by these schemas of AWS's clients for JavaScript, which schemas.mjs prints")
	report := flag.String("report", "additions.txt", "the file that lists what -add has added")
	flag.Parse()
	if *schemas != "" {
		if err := add(*schemas, *out, *report); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*models, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run reads all models and writes one file of the archive for each service.
func run(archive, out string) error {
	sources, err := newestModels(archive)
	if err != nil {
		return err
	}
	services := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		service, text, err := botocore.Convert(sources[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, twice := services[service]; twice { // two models share a serviceId: sms-voice and pinpoint-sms-voice
			service = strings.ReplaceAll(name, "-", "")
		}
		if _, twice := services[service]; twice {
			return fmt.Errorf("%s: another model is called %s too", name, service)
		}
		services[service] = text
	}
	return write(out, services)
}

// write writes the archive. The same models always give the same bytes.
func write(out string, services map[string]string) (err error) {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	z := zip.NewWriter(f)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, name := range slices.Sorted(maps.Keys(services)) {
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, services[name]); err != nil {
			return err
		}
	}
	return z.Close()
}
