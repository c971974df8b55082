package s3

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
	"stepback/internal/ownerfs"
	"stepback/local/services/inventory"
)

// bucketMark is the file in a bucket's meta directory that has the bucket's creation date. In earlier versions the file
// was empty, and its modification time was the date.
const bucketMark = "%.bucket"

// bucketMarkText is the content of a bucketMark.
type bucketMarkText struct {
	Created time.Time `json:"created"`
}

// creationDate returns the creation date of a bucket. The date of a bucket without a mark, such as a directory that a
// user made, is the modification time of its directory.
func (s *store) creationDate(bucket string) (time.Time, error) {
	path := filepath.Join(s.metaDir(bucket), bucketMark)
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		if _, known, err := s.files.Entry(path); err != nil || !known {
			return info.ModTime(), err
		}
	}
	text, err := s.files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err := os.Stat(s.bucketDir(bucket))
		if err != nil {
			return time.Time{}, err
		}
		return info.ModTime(), nil
	}
	if err != nil {
		return time.Time{}, err
	}
	var m bucketMarkText
	if err := json.Unmarshal(text, &m); err != nil {
		return time.Time{}, &inventory.DamagedError{Path: path, Why: err.Error()}
	}
	return m.Created, nil
}

var bucketName = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// isBucketName reports whether a bucket may have a name. Such a name never leaves the directory of buckets.
func isBucketName(name string) bool {
	return bucketName.MatchString(name) && !strings.Contains(name, "..") && !strings.Contains(name, ".-") &&
		!strings.Contains(name, "-.") && !isIP(name) && !strings.HasPrefix(name, "xn--") &&
		!strings.HasSuffix(name, "-s3alias")
}

// isIP reports whether a name of digits, letters, dots and hyphens is an IP address, which has no letters then.
func isIP(name string) bool {
	return strings.Trim(name, "0123456789.") == "" && net.ParseIP(name) != nil
}

// isReservedName reports whether no bucket may be created with a name, although it has the form of a name: AWS uses it
// for its examples, or for resources of other kinds (User Guide, General purpose bucket naming rules).
func isReservedName(name string) bool {
	for _, prefix := range []string{"sthree-", "amzn-s3-demo-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{"--ol-s3", ".mrap", "--x-s3", "--table-s3"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// bucketInfo describes a bucket.
type bucketInfo struct {
	name    string
	created time.Time
}

// buckets returns all buckets, ordered by name.
func (s *store) buckets() ([]bucketInfo, error) {
	entries, err := os.ReadDir(s.root)
	if err != nil {
		return nil, s.storageError(err)
	}
	var buckets []bucketInfo
	for _, e := range entries {
		if !isBucketName(e.Name()) || !e.IsDir() {
			continue
		}
		created, err := s.creationDate(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return nil, s.storageError(err)
		}
		buckets = append(buckets, bucketInfo{e.Name(), created.UTC()})
	}
	return buckets, nil
}

// bucketList is the response of ListBuckets.
type bucketList struct {
	XMLName           xml.Name        `xml:"ListAllMyBucketsResult"`
	Xmlns             string          `xml:"xmlns,attr"`
	Buckets           []bucketElement `xml:"Buckets>Bucket"`
	Owner             person
	ContinuationToken string `xml:",omitempty"`
	Prefix            string `xml:",omitempty"`
}

type bucketElement struct {
	Name         string
	CreationDate string
	BucketRegion string `xml:",omitempty"`
}

// mostBuckets is the maximum of max-buckets, and its default.
const mostBuckets = 10000

// listBuckets implements ListBuckets: it lists the buckets that the caller owns.
func (s *store) listBuckets(c *call) (any, error) {
	limit, err := c.number("max-buckets", math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if c.query.Get("max-buckets") == "" {
		limit = mostBuckets
	}
	if limit < 1 || limit > mostBuckets {
		return nil, invalidArgument("max-buckets", c.query.Get("max-buckets"), "Argument max-buckets must be an integer between 1 and 10000")
	}
	after := ""
	if token := c.query.Get("continuation-token"); token != "" {
		if after, err = tokenMarker(token); err != nil {
			return nil, err
		}
	}
	all, err := s.buckets()
	if err != nil {
		return nil, err
	}
	paged := c.query.Has("max-buckets") || c.query.Has("prefix") || c.query.Has("bucket-region")
	out := bucketList{Xmlns: namespace, Owner: person{ID: s.canonicalID(c.caller.account)}, Prefix: c.query.Get("prefix")}
	for _, b := range all {
		if b.name <= after || !strings.HasPrefix(b.name, out.Prefix) {
			continue
		}
		kept, err := s.settingsOf(b.name)
		if err != nil {
			return nil, s.storageError(err)
		}
		region := kept[regionSetting]
		if region == "" {
			region = s.region
		}
		if !s.owns(c.caller, kept[ownerSetting]) || c.query.Has("bucket-region") && c.query.Get("bucket-region") != region {
			continue
		}
		if int64(len(out.Buckets)) == limit {
			out.ContinuationToken = pageToken(out.Buckets[limit-1].Name)
			break
		}
		e := bucketElement{Name: b.name, CreationDate: shownTime(b.created)}
		if paged {
			e.BucketRegion = region
		}
		out.Buckets = append(out.Buckets, e)
	}
	return out, nil
}

// bucketExists reports whether a bucket exists. An invalid name never reaches the file system.
func (s *store) bucketExists(bucket string) (bool, error) {
	if !isBucketName(bucket) {
		return false, nil
	}
	info, err := os.Stat(s.bucketDir(bucket))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), s.storageError(err)
}

func (s *store) requireBucket(bucket string) error {
	exists, err := s.bucketExists(bucket)
	if err == nil && !exists {
		return noSuchBucket(bucket)
	}
	return err
}

// bucketConfiguration is the body of CreateBucket.
type bucketConfiguration struct {
	XMLName    xml.Name `xml:"CreateBucketConfiguration"`
	Constraint string   `xml:"LocationConstraint"`
	Location   *struct{}
	Bucket     *struct{}
	Tags       []tag `xml:"Tags>Tag"`
}

// createBucket implements CreateBucket. The new bucket blocks public access and has no ACLs, as on AWS since April
// 2023, unless the request chooses another ownership of objects.
func (s *store) createBucket(c *call) (any, error) {
	if !isBucketName(c.bucket) || isReservedName(c.bucket) {
		return nil, fail("InvalidBucketName", "The specified bucket is not valid.", members{"BucketName": c.bucket})
	}
	var in bucketConfiguration
	text, err := c.message(maxMessage)
	if err != nil {
		return nil, err
	}
	if len(text) > 0 && xml.Unmarshal(text, &in) != nil {
		return nil, malformedXML()
	}
	if in.Location != nil || in.Bucket != nil {
		return nil, notImplemented("Directory buckets (Location, Bucket) are not served here.")
	}
	region := server.ScopeOf(c.Request, aws.Scope{Region: s.region}).Region
	switch {
	case in.Constraint == "EU":
		region = "eu-west-1"
	case in.Constraint != "" && !isRegion(in.Constraint):
		return nil, fail("InvalidLocationConstraint", "The specified location-constraint is not valid",
			members{"LocationConstraint": in.Constraint})
	case in.Constraint != "":
		region = in.Constraint
	}
	changes, err := s.newBucketSettings(c, &in)
	if err != nil {
		return nil, err
	}
	changes[regionSetting] = region
	exists, err := s.bucketExists(c.bucket)
	if err != nil {
		return nil, err
	}
	if exists {
		return nil, s.recreate(c, region)
	}
	err = s.CreateBucket(c.bucket)
	if err == nil {
		err = s.changeSettings(c.bucket, changes)
	}
	c.header.Set("Location", "/"+c.bucket)
	return nil, err
}

// recreate returns the result of creating a bucket that exists: in us-east-1, the owner may do so.
func (s *store) recreate(c *call, region string) error {
	owner, err := s.ownerOf(c.bucket)
	switch {
	case err != nil:
		return err
	case owner != "" && owner != c.caller.account:
		return fail("BucketAlreadyExists", "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.",
			members{"BucketName": c.bucket})
	case region != DefaultRegion:
		return fail("BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.",
			members{"BucketName": c.bucket})
	}
	c.header.Set("Location", "/"+c.bucket)
	return nil
}

// errACLWithOwnership is the error for a bucket whose ACL grants other accounts what BucketOwnerEnforced would disable.
var errACLWithOwnership = fail("InvalidBucketAclWithObjectOwnership", "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting", nil)

// newBucketSettings returns the settings of a bucket that a request creates.
func (s *store) newBucketSettings(c *call, in *bucketConfiguration) (map[string]string, error) {
	owner := c.caller.account
	ownership := c.Header.Get("X-Amz-Object-Ownership")
	switch ownership {
	case "":
		ownership = ownerEnforced
	case ownerEnforced, ownerPreferred, objectWriter:
	default:
		return nil, invalidArgument("x-amz-object-ownership", ownership, "Invalid x-amz-object-ownership header: "+ownership)
	}
	changes := map[string]string{
		ownerSetting:        owner,
		"ownershipControls": `<OwnershipControls xmlns="` + namespace + `"><Rule><ObjectOwnership>` + ownership + `</ObjectOwnership></Rule></OwnershipControls>`,
		"publicAccessBlock": `<PublicAccessBlockConfiguration xmlns="` + namespace + `"><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>`,
	}
	a, err := s.requestedACL(c.Header, owner, owner)
	if err != nil {
		return nil, err
	}
	if a != nil && (len(a.Grants) != 1 || a.Grants[0].ID != s.canonicalID(owner)) {
		if ownership == ownerEnforced {
			return nil, errACLWithOwnership
		}
		if a.public() {
			return nil, fail("InvalidBucketAclWithBlockPublicAccessError", "Bucket cannot have public ACLs set with BlockPublicAccess enabled", nil)
		}
		text, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		changes[aclSetting] = string(text)
	}
	if c.truth("X-Amz-Bucket-Object-Lock-Enabled") {
		changes["versioning"] = `<VersioningConfiguration xmlns="` + namespace + `"><Status>Enabled</Status></VersioningConfiguration>`
		changes[lockSetting] = `<ObjectLockConfiguration xmlns="` + namespace + `"><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>`
	}
	if len(in.Tags) > 0 {
		if err := checkBucketTagWords(c.Context(), in.Tags); err != nil {
			return nil, err
		}
		out := tagging{Xmlns: namespace}
		out.TagSet.Tag = in.Tags
		text, err := xml.Marshal(out)
		if err != nil {
			return nil, err
		}
		changes["tagging"] = string(text)
	}
	return changes, nil
}

// region matches the names of regions.
var region = lazyregexp.New(`^(af|ap|ca|cn|eu|eusc|il|me|mx|sa|us)(-gov|-iso[a-z]?|-de)?-(central|north|south|east|west|northeast|northwest|southeast|southwest)-[1-9]$`)

// isRegion reports whether a name has the form of a region's.
func isRegion(name string) bool { return region.MatchString(name) }

// location is the response of GetBucketLocation.
type location struct {
	XMLName xml.Name `xml:"LocationConstraint"`
	Xmlns   string   `xml:"xmlns,attr"`
	Region  string   `xml:",chardata"`
}

// regionOf returns the region of a bucket.
func (s *store) regionOf(bucket string) (string, error) {
	all, err := s.settingsOf(bucket)
	if r := all[regionSetting]; r != "" {
		return r, nil
	}
	return s.region, s.storageError(err)
}

func (s *store) getBucketLocation(c *call) (any, error) {
	r, err := s.regionOf(c.bucket)
	if r == DefaultRegion { // it has no name here
		r = ""
	}
	return location{Xmlns: namespace, Region: r}, err
}

func (s *store) headBucket(c *call) (any, error) {
	r, err := s.regionOf(c.bucket)
	c.header.Set("X-Amz-Bucket-Region", r)
	c.header.Set("X-Amz-Access-Point-Alias", "false")
	c.header.Set("Content-Type", "application/xml")
	if err == nil {
		c.w.WriteHeader(http.StatusOK)
	}
	return written{}, err
}

// CreateBucket creates a bucket's directories. An existing bucket is an error except in us-east-1, as in S3. Every
// account owns the bucket.
func (s *store) CreateBucket(bucket string) error {
	if !isBucketName(bucket) {
		return fail("InvalidBucketName", "The specified bucket is not valid.", members{"BucketName": bucket})
	}
	err := os.Mkdir(s.bucketDir(bucket), ownerfs.Dir)
	if errors.Is(err, fs.ErrExist) {
		if s.region == DefaultRegion {
			return nil
		}
		return fail("BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you already own it.",
			members{"BucketName": bucket})
	}
	if err != nil {
		return s.storageError(err)
	}
	if err := os.MkdirAll(s.metaDir(bucket), ownerfs.Dir); err != nil {
		return s.storageError(err)
	}
	text, err := json.Marshal(bucketMarkText{s.stamps.now().UTC()})
	if err != nil {
		return err
	}
	note, err := s.replaceSealed(filepath.Join(s.metaDir(bucket), bucketMark), text)
	if err != nil {
		return s.storageError(err)
	}
	note()
	return nil
}

// deleteBucket implements DeleteBucket: the bucket must be empty.
func (s *store) deleteBucket(c *call) (any, error) { return nil, s.DeleteBucket(c.bucket) }

// DeleteBucket deletes an empty bucket.
func (s *store) DeleteBucket(bucket string) error {
	defer s.turns.take(bucket)()
	empty := true
	w := walker{visit: func(string, string) (bool, error) { empty = false; return false, nil }}
	if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
		return s.storageError(err)
	}
	if old, err := s.shelves(bucket); err != nil {
		return s.storageError(err)
	} else if len(old) > 0 {
		empty = false
	}
	if !empty {
		return fail("BucketNotEmpty", "The bucket you tried to delete is not empty", members{"BucketName": bucket})
	}
	return s.storageError(s.removeBucket(bucket))
}

func (s *store) removeBucket(bucket string) error {
	s.forgetSettings(bucket)
	for _, dir := range []string{s.metaDir(bucket), s.versionsDir(bucket)} {
		known, err := s.files.Below(dir)
		if err == nil {
			err = s.files.Forget(known...)
		}
		if err != nil {
			return err
		}
	}
	if err := os.RemoveAll(s.versionsDir(bucket)); err != nil {
		return err
	}
	if err := os.RemoveAll(s.bucketDir(bucket)); err != nil {
		return err
	}
	return os.RemoveAll(s.metaDir(bucket))
}
