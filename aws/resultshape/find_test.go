package resultshape

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"stepback/tasks/awssdk"
)

func TestUnknownActionsHaveNoResult(t *testing.T) {
	t.Parallel()
	for _, name := range [][2]string{{"none", "getIt"}, {"sqs", "getIt"}, {"sqs", ""}, {"", ""},
		{"../sqs", "sendMessage"}, {"sqs", "deleteMessage"}} {
		if r, err := Find(name[0], name[1]); r != nil || err != nil {
			t.Errorf("%q: got %v, %v", name, r, err)
		}
	}
}

func TestEveryServiceOfTheSDKIsKnown(t *testing.T) {
	t.Parallel()
	z, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range awssdk.Services() {
		if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == name }) {
			t.Errorf("%s has no file", name)
		}
	}
}

// TestArchive reads every service: no shape may refer to one that is not there.
func TestArchive(t *testing.T) {
	t.Parallel()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			s := &Service{}
			if err := json.NewDecoder(r).Decode(s); err != nil {
				t.Fatal(err)
			}
			for name, i := range s.Operations {
				if i < 0 || i >= len(s.Shapes) {
					t.Errorf("%s answers with shape %d of %d", name, i, len(s.Shapes))
				}
			}
			for i := range s.Shapes {
				if e := s.Shapes[i].Element; e < 0 || e >= len(s.Shapes) {
					t.Errorf("shape %d has elements of shape %d", i, e)
				}
				for _, m := range s.Shapes[i].Members {
					if m.Shape < 0 || m.Shape >= len(s.Shapes) {
						t.Errorf("shape %d: %s has shape %d", i, m.Name, m.Shape)
					}
				}
			}
		})
	}
}
