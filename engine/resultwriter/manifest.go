package resultwriter

import (
	"strconv"

	"stepback/jsonvalue"
)

// ResultFile is one entry of a manifest.
type ResultFile struct {
	Key  string
	Size int64 // bytes
}

// manifest appends the text of manifest.json, members in alphabetical order as the service writes them.
func (w *Writer) manifest(files map[Status][]ResultFile) []byte {
	out := jsonvalue.AppendQuoted([]byte(`{"DestinationBucket":`), w.cfg.Bucket)
	out = jsonvalue.AppendQuoted(append(out, `,"MapRunArn":`...), w.cfg.MapRunARN)
	out = append(out, `,"ResultFiles":{`...)
	for i, status := range fileStatuses {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonvalue.AppendQuoted(out, string(status))
		out = append(out, ':', '[')
		for j, f := range files[status] {
			if j > 0 {
				out = append(out, ',')
			}
			out = jsonvalue.AppendQuoted(append(out, `{"Key":`...), f.Key)
			out = strconv.AppendInt(append(out, `,"Size":`...), f.Size, 10)
			out = append(out, '}')
		}
		out = append(out, ']')
	}
	return append(out, "}}"...)
}
