package s3

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
	"stepback/internal/ownerfs"
)

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
