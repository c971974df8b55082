package s3

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/johannesboyne/gofakes3"

	"stepback/aws"
	"stepback/internal/ownerfs"
)

// settingsFile is the file in a bucket's meta directory that holds its settings: their texts by sub-resource.
const settingsFile = "%.settings"

// mostSetting is the maximum size of a setting's text, in bytes.
const mostSetting = 1 << 20

// changeable describes a bucket setting that can be changed.
type changeable struct {
	root      string // root element of its XML; empty for JSON
	noContent bool   // a PUT is answered with 204
	fixed     bool   // can be replaced, but not deleted
	check     func(s *store, c *call, text []byte) error
}

// changeables maps sub-resources to the settings that can be changed.
var changeables = map[string]changeable{
	"cors":              {root: "CORSConfiguration", check: checkCORS},
	"encryption":        {root: "ServerSideEncryptionConfiguration", check: checkEncryption},
	"lifecycle":         {root: "LifecycleConfiguration", check: checkLifecycle},
	"notification":      {root: "NotificationConfiguration", fixed: true, check: checkNotification},
	"ownershipControls": {root: "OwnershipControls", check: checkOwnership},
	"policy":            {noContent: true, check: checkPolicy},
	"publicAccessBlock": {root: "PublicAccessBlockConfiguration"},
	"versioning":        {root: "VersioningConfiguration", fixed: true, check: checkVersioning},
	"tagging":           {root: "Tagging", noContent: true, check: checkBucketTags},
}

// chooseChange returns the operation with which a call changes a setting, or nil if it changes none.
func (s *store) chooseChange(c *call) operation {
	if c.key != "" {
		return nil
	}
	for name := range c.query {
		known, ok := changeables[name]
		if !ok {
			continue
		}
		switch c.Method {
		case http.MethodPut:
			return func(c *call) (any, error) { return s.putSetting(c, name, known) }
		case http.MethodDelete:
			if !known.fixed {
				return func(c *call) (any, error) { return nil, s.changeSetting(c.bucket, name, "") }
			}
		case http.MethodGet:
			return func(c *call) (any, error) { return s.getSetting(c, name) }
		}
	}
	return nil
}

// getSetting responds with a setting as it was put. If it has not been put, it responds with the value of a new
// bucket.
func (s *store) getSetting(c *call, name string) (any, error) {
	all, err := s.settingsOf(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	text, ok := all[name]
	if !ok {
		return settings[name].read(c)
	}
	if changeables[name].root == "" {
		return rawJSON(text), nil
	}
	return rawXML(text), nil
}

// putSetting stores a setting.
func (s *store) putSetting(c *call, name string, known changeable) (any, error) {
	text, err := io.ReadAll(io.LimitReader(c.Body, mostSetting+1))
	switch {
	case err != nil:
		return nil, cutOff(err)
	case len(text) > mostSetting:
		return nil, &aws.Error{Code: "MaxMessageLengthExceeded", Message: "Your request was too big."}
	}
	kept := string(text)
	if known.root != "" {
		if kept, err = withNamespace(text, known.root); err != nil {
			return nil, malformedXML()
		}
	}
	if known.check != nil {
		if err := known.check(s, c, text); err != nil {
			return nil, err
		}
	}
	if err := s.changeSetting(c.bucket, name, kept); err != nil {
		return nil, err
	}
	if known.noContent {
		return noContent{}, nil
	}
	return nil, nil
}

func malformedXML() error {
	return gofakes3.ErrorMessage(gofakes3.ErrMalformedXML,
		"The XML you provided was not well-formed or did not validate against our published schema")
}

// withNamespace returns text, which must consist of one element, with S3's namespace added.
func withNamespace(text []byte, root string) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	begun, opened, closed := int64(-1), int64(0), int64(0)
	namespaced, depth := false, 0
	for {
		before := d.InputOffset()
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				if begun >= 0 || t.Name.Local != root {
					return "", errors.New("another element is expected")
				}
				begun, opened, namespaced = before, d.InputOffset(), t.Name.Space != ""
			}
			depth++
		case xml.EndElement:
			depth--
			closed = d.InputOffset()
		}
	}
	if begun < 0 {
		return "", errors.New("there is no element")
	}
	if namespaced {
		return string(text[begun:closed]), nil
	}
	rest := text[opened:closed]
	if opened == closed { // <Root/>
		return "<" + root + ` xmlns="` + namespace + `"/>`, nil
	}
	return "<" + root + ` xmlns="` + namespace + `">` + string(rest), nil
}

// settingsOf returns the settings of a bucket.
func (s *store) settingsOf(bucket string) (map[string]string, error) {
	s.settingsLock.Lock()
	defer s.settingsLock.Unlock()
	return s.readSettings(bucket)
}

// readSettings returns the settings of a bucket, which it reads from disk only once. settingsLock is held; the result
// must not be modified.
func (s *store) readSettings(bucket string) (map[string]string, error) {
	if all, ok := s.settings[bucket]; ok {
		return all, nil
	}
	all := map[string]string{}
	text, err := s.files.ReadFile(filepath.Join(s.metaDir(bucket), settingsFile))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.settings == nil {
		s.settings = map[string]map[string]string{}
	}
	s.settings[bucket] = all
	return all, nil
}

// changeSetting changes one setting; an empty text removes it.
func (s *store) changeSetting(bucket, name, text string) error {
	s.settingsLock.Lock()
	defer s.settingsLock.Unlock()
	all, err := s.readSettings(bucket)
	if err != nil {
		return s.storageError(err)
	}
	made := map[string]string{}
	for other, value := range all {
		made[other] = value
	}
	if made[name] = text; text == "" {
		delete(made, name)
	}
	kept, err := json.Marshal(made)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.metaDir(bucket), ownerfs.Dir); err != nil {
		return s.storageError(err)
	}
	path := filepath.Join(s.metaDir(bucket), settingsFile)
	note, err := s.replaceSealed(path, kept)
	if err != nil {
		return s.storageError(err)
	}
	note()
	s.settings[bucket] = made
	return nil
}

// replaceFile atomically writes a small file.
func (s *store) replaceFile(path string, text []byte) error {
	f, err := s.newFile(s.tempDir())
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if s.sync && err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return s.moveInto(f.Name(), path)
}

// forgetSettings removes the cached settings of a deleted bucket.
func (s *store) forgetSettings(bucket string) {
	s.settingsLock.Lock()
	defer s.settingsLock.Unlock()
	delete(s.settings, bucket)
}

func checkPolicy(_ *store, _ *call, text []byte) error {
	var p struct{ Statement any }
	if json.Unmarshal(text, &p) != nil {
		return &aws.Error{Code: "MalformedPolicy", Message: "Policies must be valid JSON and the first byte must be '{'"}
	}
	if p.Statement == nil {
		return &aws.Error{Code: "MalformedPolicy", Message: "Missing required field Statement"}
	}
	return nil
}

func checkEncryption(_ *store, _ *call, text []byte) error {
	var in struct {
		Rule []struct {
			Default *struct {
				Algorithm string `xml:"SSEAlgorithm"`
			} `xml:"ApplyServerSideEncryptionByDefault"`
		}
	}
	if xml.Unmarshal(text, &in) != nil || len(in.Rule) == 0 {
		return malformedXML()
	}
	for _, r := range in.Rule {
		if r.Default != nil && r.Default.Algorithm != "AES256" && r.Default.Algorithm != "aws:kms" &&
			r.Default.Algorithm != "aws:kms:dsse" {
			return malformedXML()
		}
	}
	return nil
}

func checkOwnership(_ *store, _ *call, text []byte) error {
	var in struct {
		Rule []struct{ ObjectOwnership string }
	}
	if xml.Unmarshal(text, &in) != nil || len(in.Rule) != 1 {
		return malformedXML()
	}
	switch in.Rule[0].ObjectOwnership {
	case "BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter":
		return nil
	}
	return malformedXML()
}

func checkCORS(_ *store, _ *call, text []byte) error {
	var in struct {
		Rules []struct {
			Methods []string `xml:"AllowedMethod"`
			Origins []string `xml:"AllowedOrigin"`
		} `xml:"CORSRule"`
	}
	if xml.Unmarshal(text, &in) != nil || len(in.Rules) == 0 {
		return malformedXML()
	}
	for _, r := range in.Rules {
		if len(r.Methods) == 0 || len(r.Origins) == 0 {
			return malformedXML()
		}
		for _, m := range r.Methods {
			if !slices.Contains([]string{"GET", "PUT", "POST", "DELETE", "HEAD"}, m) {
				return &aws.Error{Code: "InvalidRequest", Message: "Found unsupported HTTP method in CORS config. " +
					"Unsupported method is " + m}
			}
		}
	}
	return nil
}

// mostBucketTags is the maximum number of tags per bucket.
const mostBucketTags = 50

func checkBucketTags(_ *store, _ *call, text []byte) error {
	var in tagging
	if xml.Unmarshal(text, &in) != nil {
		return malformedXML()
	}
	if len(in.TagSet.Tag) > mostBucketTags {
		return gofakes3.ErrorMessage(errBadRequest, "Bucket tag count cannot be greater than 50")
	}
	return checkTagWords(in.TagSet.Tag)
}
