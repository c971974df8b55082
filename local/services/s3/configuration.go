package s3

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
)

// settingsFile is the file in a bucket's meta directory that holds its settings: their texts by sub-resource.
const settingsFile = "%.settings"

// mostSetting is the maximum size of a setting's text, in bytes.
const mostSetting = 1 << 20

// setting is a setting of a bucket, which is stored as it is put.
type setting struct {
	// get, put and remove are the names of its operations; empty for one that is not served.
	get, put, remove string
	root             string // root element of its XML; empty for JSON
	noContent        bool   // a PUT is answered with 204
	check            func(s *store, c *call, text []byte) error
	complete         func(text string) (string, error) // adds what S3 adds to a valid text; nil for nothing
	// beside returns further settings that a request changes, and with which values; nil for none. text is empty for a
	// DELETE.
	beside func(text string) (map[string]string, error)
	// shown returns the text that a GET responds with if it is not the stored one.
	shown func(all map[string]string) (string, error)
	// A bucket that has no such setting is answered with an error, or with a value.
	code, message string
	value         string // XML without its declaration
}

// settings holds the settings of buckets, by sub-resource.
var settings = map[string]setting{
	"accelerate": {get: "GetBucketAccelerateConfiguration", put: "PutBucketAccelerateConfiguration", root: "AccelerateConfiguration",
		check: checkAccelerate, value: `<AccelerateConfiguration xmlns="` + namespace + `"/>`},
	"cors": {get: "GetBucketCors", put: "PutBucketCors", remove: "DeleteBucketCors", root: "CORSConfiguration", check: checkCORS,
		code: "NoSuchCORSConfiguration", message: "The CORS configuration does not exist"},
	"encryption": {get: "GetBucketEncryption", put: "PutBucketEncryption", remove: "DeleteBucketEncryption",
		root: "ServerSideEncryptionConfiguration", check: checkEncryption, beside: blockedByRule, shown: shownEncryption},
	"lifecycle": {get: "GetBucketLifecycleConfiguration", put: "PutBucketLifecycleConfiguration", remove: "DeleteBucketLifecycle",
		root: "LifecycleConfiguration", check: checkLifecycle, complete: withRuleIDs,
		code: "NoSuchLifecycleConfiguration", message: "The lifecycle configuration does not exist"},
	"logging": {get: "GetBucketLogging", put: "PutBucketLogging", root: "BucketLoggingStatus", check: checkLogging,
		value: `<BucketLoggingStatus xmlns="` + namespace + `"/>`},
	"notification": {get: "GetBucketNotificationConfiguration", put: "PutBucketNotificationConfiguration",
		root: "NotificationConfiguration", check: checkNotification, value: `<NotificationConfiguration xmlns="` + namespace + `"/>`},
	"ownershipControls": {get: "GetBucketOwnershipControls", put: "PutBucketOwnershipControls", remove: "DeleteBucketOwnershipControls",
		root: "OwnershipControls", check: checkOwnership,
		code: "OwnershipControlsNotFoundError", message: "The bucket ownership controls were not found"},
	"policy": {get: "GetBucketPolicy", put: "PutBucketPolicy", remove: "DeleteBucketPolicy", noContent: true, check: checkPolicy,
		code: "NoSuchBucketPolicy", message: "The bucket policy does not exist"},
	"publicAccessBlock": {get: "GetPublicAccessBlock", put: "PutPublicAccessBlock", remove: "DeletePublicAccessBlock",
		root: "PublicAccessBlockConfiguration",
		code: "NoSuchPublicAccessBlockConfiguration", message: "The public access block configuration was not found"},
	"replication": {get: "GetBucketReplication",
		code: "ReplicationConfigurationNotFoundError", message: "The replication configuration was not found"},
	"requestPayment": {get: "GetBucketRequestPayment", put: "PutBucketRequestPayment", root: "RequestPaymentConfiguration",
		check: checkPayment, value: `<RequestPaymentConfiguration xmlns="` + namespace +
			`"><Payer>BucketOwner</Payer></RequestPaymentConfiguration>`},
	"tagging": {get: "GetBucketTagging", put: "PutBucketTagging", remove: "DeleteBucketTagging", root: "Tagging", noContent: true,
		check: checkBucketTags, code: "NoSuchTagSet", message: "The TagSet does not exist"},
	"versioning": {get: "GetBucketVersioning", put: "PutBucketVersioning", root: "VersioningConfiguration", check: checkVersioning,
		value: `<VersioningConfiguration xmlns="` + namespace + `"/>`},
	"website": {get: "GetBucketWebsite", put: "PutBucketWebsite", remove: "DeleteBucketWebsite", root: "WebsiteConfiguration", check: checkWebsite,
		code: "NoSuchWebsiteConfiguration", message: "The specified bucket does not have a website configuration"},
}

// settingOperation returns the operation of a request about a setting of a bucket.
func settingOperation(key route) (named, bool) {
	known, ok := settings[key.sub]
	if !ok || key.on != onBucket {
		return named{}, false
	}
	o := named{}
	switch key.method {
	case http.MethodGet:
		o = named{known.get, func(s *store, c *call) (any, error) { return s.getSetting(c, key.sub, &known) }}
	case http.MethodPut:
		o = named{known.put, func(s *store, c *call) (any, error) { return s.putSetting(c, key.sub, &known) }}
	case http.MethodDelete:
		o = named{known.remove, func(s *store, c *call) (any, error) { return nil, s.replaceSetting(c, key.sub, &known, "") }}
	}
	return o, o.name != ""
}

// getSetting responds with a setting as it was put. If it has not been put, it responds with the value of a bucket
// without it.
func (s *store) getSetting(c *call, name string, known *setting) (any, error) {
	all, err := s.settingsOf(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	text, ok := all[name]
	switch {
	case known.shown != nil:
		text, err = known.shown(all)
		return rawXML(text), s.storageError(err)
	case !ok && known.code != "":
		return nil, fail(known.code, known.message, members{"BucketName": c.bucket})
	case !ok:
		return rawXML(known.value), nil
	case known.root == "":
		return rawJSON(text), nil
	}
	return rawXML(text), nil
}

// putSetting stores a setting.
func (s *store) putSetting(c *call, name string, known *setting) (any, error) {
	text, err := c.message(mostSetting)
	if err != nil {
		return nil, err
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
	if known.complete != nil {
		if kept, err = known.complete(kept); err != nil {
			return nil, malformedXML()
		}
	}
	if err := s.replaceSetting(c, name, known, kept); err != nil {
		return nil, err
	}
	if known.noContent {
		return noContent{}, nil
	}
	return nil, nil
}

// replaceSetting stores the text of a setting, and what else it changes; an empty text removes the setting.
func (s *store) replaceSetting(c *call, name string, known *setting, text string) error {
	changes := map[string]string{}
	if known.beside != nil {
		more, err := known.beside(text)
		if err != nil {
			return malformedXML()
		}
		maps.Copy(changes, more)
	}
	changes[name] = text
	return s.changeSettings(c.bucket, changes)
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

// replaceFile atomically writes a small file.
func (s *store) replaceFile(path string, text []byte) (err error) {
	f, err := s.newFile(s.tempDir())
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
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

// createFile writes a small file that nothing reads yet. It replaces one that exists, atomically.
func (s *store) createFile(path string, text []byte) error {
	if s.sync { // its directory has to be synced, too
		return s.replaceFile(path, text)
	}
	f, err := s.newRecord(path)
	if err != nil { // it exists, or its directory does not
		return s.replaceFile(path, text)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

func checkAccelerate(_ *store, _ *call, text []byte) error {
	var in struct{ Status string }
	if xml.Unmarshal(text, &in) != nil || in.Status != versionsEnabled && in.Status != versionsSuspended {
		return malformedXML()
	}
	return nil
}

func checkPayment(_ *store, _ *call, text []byte) error {
	var in struct{ Payer string }
	if xml.Unmarshal(text, &in) != nil || in.Payer != "BucketOwner" && in.Payer != "Requester" {
		return malformedXML()
	}
	return nil
}

func checkOwnership(s *store, c *call, text []byte) error {
	var in struct {
		Rule []struct{ ObjectOwnership string }
	}
	if xml.Unmarshal(text, &in) != nil || len(in.Rule) != 1 {
		return malformedXML()
	}
	switch in.Rule[0].ObjectOwnership {
	case ownerEnforced:
		a, err := s.bucketACL(c.bucket)
		if err != nil {
			return err
		}
		owner := s.canonicalID(a.Owner)
		if slices.ContainsFunc(a.Grants, func(g grant) bool { return g.Group != "" || g.ID != owner }) {
			return errACLWithOwnership
		}
		return nil
	case ownerPreferred, objectWriter:
		return nil
	}
	return malformedXML()
}

func checkCORS(_ *store, _ *call, text []byte) error {
	var in struct {
		Rules []struct {
			Methods []string `xml:"AllowedMethod"`
			Origins []string `xml:"AllowedOrigin"`
			Headers []string `xml:"AllowedHeader"`
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
				return fail("InvalidRequest", "Found unsupported HTTP method in CORS config. Unsupported method is "+m, nil)
			}
		}
		if err := oneWildcard("AllowedOrigin", r.Origins); err != nil {
			return err
		}
		if err := oneWildcard("AllowedHeader", r.Headers); err != nil {
			return err
		}
	}
	return nil
}

// oneWildcard returns an error for a value of an element that has several wildcards.
func oneWildcard(element string, values []string) error {
	for _, v := range values {
		if strings.Count(v, "*") > 1 {
			return fail("InvalidRequest", element+` "`+v+`" can not have more than one wildcard.`, nil)
		}
	}
	return nil
}

// checkWebsite returns an error unless text has an index document, or redirects all requests.
func checkWebsite(_ *store, _ *call, text []byte) error {
	var in struct {
		Redirect *struct{ HostName string } `xml:"RedirectAllRequestsTo"`
		Index    *struct{ Suffix string }   `xml:"IndexDocument"`
		Error    *struct{ Key string }      `xml:"ErrorDocument"`
		Rules    *struct{}                  `xml:"RoutingRules"`
	}
	switch {
	case xml.Unmarshal(text, &in) != nil:
		return malformedXML()
	case in.Redirect != nil && (in.Index != nil || in.Error != nil || in.Rules != nil || in.Redirect.HostName == ""):
		return malformedXML()
	case in.Redirect != nil:
		return nil
	case in.Index == nil:
		return malformedXML()
	case in.Index.Suffix == "" || strings.Contains(in.Index.Suffix, "/"):
		return invalidArgument("IndexDocument", in.Index.Suffix, "The IndexDocument Suffix is not well formed")
	case in.Error != nil && in.Error.Key == "":
		return invalidArgument("ErrorDocument", "", "The ErrorDocument Key is not well formed")
	}
	return nil
}

// mostBucketTags is the maximum number of tags per bucket.
const mostBucketTags = 50

func checkBucketTags(_ *store, c *call, text []byte) error {
	var in tagging
	if xml.Unmarshal(text, &in) != nil {
		return malformedXML()
	}
	if len(in.TagSet.Tag) > mostBucketTags {
		return fail("BadRequest", "Bucket tag count cannot be greater than 50", nil)
	}
	return checkBucketTagWords(c.Context(), in.TagSet.Tag)
}
