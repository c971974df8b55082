package manyfiles

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"stepback/csvimport"
	"stepback/csvimport/spool"
	"stepback/internal/objectevent"
	"stepback/retry"
	"stepback/statemachine"
)

// Steps implements ListFiles and SumFiles.
type Steps struct {
	Objects csvimport.Objects
	Bucket  string           // the input bucket
	Now     func() time.Time // nil means time.Now
}

// Report is the result of ListFiles.
type Report struct {
	List  csvimport.Location `json:"list"` // an array of the files, for the Map's ItemReader
	Files int64              `json:"files"`
	Bytes int64              `json:"bytes"` // of all files
	LeftOut
}

// item is a file in the list.
type item struct {
	Bucket    string `json:"bucket"`
	Key       string `json:"key"`
	ETag      string `json:"etag"`
	Size      int64  `json:"size"`
	Execution string `json:"execution"` // the name of the execution that imports it
}

const (
	// requests is the number of concurrent requests to S3, which serves 5,500 a second below one prefix.
	requests = 32
	// maxManifestBytes is more than the longest keys take, 1,024 bytes each.
	maxManifestBytes = 128 << 20
	// maxProblems is the number of lines of a manifest that an error names.
	maxProblems = 10
)

// List writes the list of the files that the request selects. It fails with InvalidInput for a request or manifest with
// errors, or one of more than statemachine.MaxFiles files, and with CSVFileNotFound if the request selects no file.
// Then it has written nothing.
func (s *Steps) List(ctx context.Context, in Input) (Report, error) {
	r, err := in.request(s.Bucket)
	if err != nil {
		return Report{}, err
	}
	if in.Execution == "" || in.Work.Bucket == "" {
		return Report{}, csvimport.Fail(
			retry.InvalidInput,
			"the event lacks execution or work.bucket, where the list goes",
		)
	}
	var files []csvimport.ObjectInfo
	var without LeftOut
	if r.Prefix != "" {
		files, without, err = s.underPrefix(ctx, r.Prefix)
	} else {
		files, err = s.inManifest(ctx, r)
	}
	if err != nil {
		return Report{}, err
	}
	return s.write(ctx, in, files, without)
}

// underPrefix returns the objects with a prefix, in the order of their keys, and those that are left out.
func (s *Steps) underPrefix(ctx context.Context, prefix string) ([]csvimport.ObjectInfo, LeftOut, error) {
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	var files []csvimport.ObjectInfo
	var without LeftOut
	err := s.Objects.List(ctx, s.Bucket, prefix, func(o csvimport.ObjectInfo) error {
		if name := strings.TrimPrefix(o.Key, folder); !Takes(name) {
			if name != "" && !strings.HasSuffix(name, "/") && !hidden(name) { // not a folder, as consoles create them
				without.Add(o.Key)
			}
			return nil
		}
		files = append(files, o)
		return tooMany(s.address(prefix), len(files))
	})
	if err == nil && len(files) == 0 {
		err = csvimport.Fail(
			statemachine.CSVFileNotFound,
			"%s: no object with this prefix ends in %s%s; check the prefix, and that the upload is complete",
			s.address(prefix),
			strings.Join(Extensions(), ", "),
			without.found(),
		)
	}
	return files, without, err
}

func (s *Steps) address(key string) string {
	return csvimport.Location{Bucket: s.Bucket, Key: key}.String()
}

func tooMany(what string, files int) error {
	if files <= statemachine.MaxFiles {
		return nil
	}
	return csvimport.Fail(
		retry.InvalidInput,
		"%s has more than %d files; import them in several parts",
		what,
		statemachine.MaxFiles,
	)
}

// inManifest returns the objects that a manifest lists, in its order.
func (s *Steps) inManifest(ctx context.Context, r Request) ([]csvimport.ObjectInfo, error) {
	at := csvimport.Location{Bucket: s.Bucket, Key: r.Manifest}
	object, err := s.Objects.Get(ctx, at, r.ETag)
	if err != nil {
		return nil, err
	}
	defer object.Body.Close()
	if object.Size > maxManifestBytes {
		return nil, csvimport.Fail(
			retry.InvalidInput,
			"%s has %d bytes, and a manifest of %d files at most %d; import them in several parts",
			at,
			object.Size,
			statemachine.MaxFiles,
			maxManifestBytes,
		)
	}
	lines, err := s.lines(at, io.LimitReader(object.Body, maxManifestBytes))
	if err != nil {
		return nil, err
	}
	return s.described(ctx, at, lines)
}

// line is a line of a manifest that names a file.
type line struct {
	number int
	key    string
}

// lines reads a manifest. A file is an s3:// address in the input bucket, or a path relative to the manifest, as on a
// laptop.
func (s *Steps) lines(at csvimport.Location, text io.Reader) ([]line, error) {
	const longest = 4096
	var all []line
	var problems []string
	seen := map[string]int{}
	scanner := bufio.NewScanner(text)
	scanner.Buffer(make([]byte, longest), longest)
	n := 0
	for scanner.Scan() {
		n++
		raw := scanner.Bytes()
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
		}
		if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
			return nil, csvimport.Fail(
				retry.InvalidInput,
				"%s, line %d is not UTF-8 text; a manifest lists the files, one in a line",
				at,
				n,
			)
		}
		name := strings.TrimSpace(string(raw))
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		key, ok := keyIn(s.Bucket, name)
		if !ok {
			problems = append(problems, fmt.Sprintf("line %d: %s is not in the input bucket %s", n, name, s.Bucket))
			continue
		}
		if key == name {
			key = path.Join(path.Dir(at.Key), name)
		}
		if before := seen[key]; before > 0 {
			problems = append(
				problems,
				fmt.Sprintf("line %d: %s is already in line %d; list each file once", n, name, before),
			)
			continue
		}
		seen[key] = n
		all = append(all, line{n, key})
		if err := tooMany(at.String(), len(all)); err != nil {
			return nil, err
		}
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, csvimport.Fail(
			retry.InvalidInput,
			"%s, line %d is longer than %d bytes; a manifest lists the files, one in a line",
			at,
			n+1,
			longest,
		)
	case err != nil:
		return nil, err
	case len(problems) > 0:
		return nil, invalid(at, problems)
	case len(all) == 0:
		return nil, csvimport.Fail(
			statemachine.CSVFileNotFound,
			"%s lists no file; write the keys of CSV files, one in a line",
			at,
		)
	}
	return all, nil
}

// described returns the objects of the lines. All missing ones are reported together.
func (s *Steps) described(ctx context.Context, at csvimport.Location, lines []line) ([]csvimport.ObjectInfo, error) {
	files, missing := make([]csvimport.ObjectInfo, len(lines)), make([]bool, len(lines))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	for i, l := range lines {
		group.Go(func() (err error) {
			files[i], err = s.Objects.Head(within, csvimport.Location{Bucket: s.Bucket, Key: l.key})
			if isMissing(err) {
				missing[i], err = true, nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var problems []string
	for i, l := range lines {
		if missing[i] {
			problems = append(problems, fmt.Sprintf("line %d: %s does not exist", l.number, s.address(l.key)))
		}
	}
	if len(problems) > 0 {
		return nil, invalid(at, problems)
	}
	return files, nil
}

func isMissing(err error) bool {
	var f *csvimport.Failure
	return errors.As(err, &f) && f.Name == statemachine.CSVFileNotFound
}

// invalid returns the error for a manifest with problems. It names the first ones.
func invalid(at csvimport.Location, problems []string) error {
	more := ""
	if n := len(problems) - maxProblems; n > 0 {
		problems, more = problems[:maxProblems], fmt.Sprintf(" (and %d more lines)", n)
	}
	return csvimport.Fail(
		retry.InvalidInput,
		"%s: %s%s; correct the manifest and upload it again: no file was imported",
		at,
		strings.Join(problems, "; "),
		more,
	)
}

// write stores the list.
func (s *Steps) write(ctx context.Context, in Input, files []csvimport.ObjectInfo, without LeftOut) (Report, error) {
	list, err := spool.Create("files")
	if err != nil {
		return Report{}, err
	}
	defer list.Close()
	out := bufio.NewWriter(list)
	report := Report{List: in.Work.Object("files.json"), Files: int64(len(files)), LeftOut: without}
	between := byte('[')
	for _, f := range files {
		report.Bytes += f.Size
		text, err := json.Marshal(
			item{s.Bucket, f.Key, f.ETag, f.Size, objectevent.ExecutionName(s.Bucket, f.Key, f.ETag)},
		)
		if err != nil {
			return Report{}, err
		}
		if err := out.WriteByte(between); err != nil {
			return Report{}, err
		}
		if _, err := out.Write(text); err != nil {
			return Report{}, err
		}
		between = ','
	}
	if err := out.WriteByte(']'); err != nil {
		return Report{}, err
	}
	if err := out.Flush(); err != nil {
		return Report{}, err
	}
	return report, list.Put(ctx, s.Objects, report.List, "application/json")
}
