package resource

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"stepback/aws"
)

func buckets() []*Type {
	return []*Type{{
		Name: "AWS::S3::Bucket",
		Properties: properties(`BucketName= BucketEncryption VersioningConfiguration LifecycleConfiguration
			PublicAccessBlockConfiguration OwnershipControls NotificationConfiguration CorsConfiguration
			WebsiteConfiguration LoggingConfiguration AccelerateConfiguration AccessControl Tags`),
		Create: createBucket, Update: updateBucket, Read: readBucket, List: listBuckets,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "s3", "DeleteBucket", map[string]any{"Bucket": r.ID}, nil))
		},
	}, {
		Name: "AWS::S3::BucketPolicy", Properties: properties("Bucket*! PolicyDocument*"),
		Create: putBucketPolicy, Update: putBucketPolicy,
		Delete: func(ctx context.Context, r *Request) error {
			return ignoreAbsent(r.Call(ctx, "s3", "DeleteBucketPolicy", pick(r.Properties, "Bucket"), nil))
		},
		Read: func(ctx context.Context, r *Request) (map[string]any, error) {
			var out struct{ Policy string }
			if err := r.Call(ctx, "s3", "GetBucketPolicy", pick(r.Properties, "Bucket"), &out); err != nil {
				return nil, goneIfAbsent(err)
			}
			return map[string]any{"Bucket": r.text("Bucket"), "PolicyDocument": parsed(out.Policy)}, nil
		},
	}}
}

func putBucketPolicy(ctx context.Context, r *Request) (State, error) {
	in := map[string]any{"Bucket": r.text("Bucket"), "Policy": document(r.Properties["PolicyDocument"])}
	return created(State{ID: r.text("Bucket")}, r.Call(ctx, "s3", "PutBucketPolicy", in, nil))
}

func createBucket(ctx context.Context, r *Request) (State, error) {
	name := nonempty(r.text("BucketName"), strings.ToLower(r.Name(63)))
	in := map[string]any{"Bucket": name}
	if r.Scope.Region != "us-east-1" {
		in["CreateBucketConfiguration"] = map[string]any{"LocationConstraint": r.Scope.Region}
	}
	// In us-east-1, CreateBucket succeeds for the account's own bucket, whereas CloudFormation reports that it
	// already exists.
	if !r.Again && r.Call(ctx, "s3", "HeadBucket", map[string]any{"Bucket": name}, nil) == nil {
		return State{}, &aws.Error{Code: "AlreadyExists", Message: name + " already exists"}
	}
	if _, err := r.create(ctx, "s3", "CreateBucket", in, nil); err != nil {
		return State{}, err
	}
	return bucketState(r, name), bucketSettings(ctx, r, name)
}

func bucketState(r *Request, name string) State {
	domain := aws.Domain(r.Scope.Region)
	return State{ID: name, Attributes: map[string]any{
		"Arn": r.Scope.BucketARN(name), "DomainName": name + ".s3." + domain,
		"RegionalDomainName":  name + ".s3." + r.Scope.Region + "." + domain,
		"DualStackDomainName": name + ".s3.dualstack." + r.Scope.Region + "." + domain,
		"WebsiteURL":          "http://" + name + ".s3-website-" + r.Scope.Region + "." + domain,
	}}
}

// bucketSettingsInOrder lists the properties that have their own S3 operation. input builds the operation's input,
// apart from the bucket, from the property's value. nothing is the input that resets the setting if no operation
// deletes it.
var bucketSettingsInOrder = []struct {
	property, put, remove string
	input                 func(any) (map[string]any, error)
	nothing               map[string]any
}{
	{"VersioningConfiguration", "PutBucketVersioning", "", wrapped("VersioningConfiguration"),
		map[string]any{"VersioningConfiguration": map[string]any{"Status": "Suspended"}}},
	{"BucketEncryption", "PutBucketEncryption", "DeleteBucketEncryption", encryption, nil},
	{"OwnershipControls", "PutBucketOwnershipControls", "DeleteBucketOwnershipControls", wrapped("OwnershipControls"), nil},
	{"PublicAccessBlockConfiguration", "PutPublicAccessBlock", "DeletePublicAccessBlock",
		wrapped("PublicAccessBlockConfiguration"), nil},
	{"LifecycleConfiguration", "PutBucketLifecycleConfiguration", "DeleteBucketLifecycle", lifecycle, nil},
	{"CorsConfiguration", "PutBucketCors", "DeleteBucketCors", cors, nil},
	{"WebsiteConfiguration", "PutBucketWebsite", "DeleteBucketWebsite", website, nil},
	{"LoggingConfiguration", "PutBucketLogging", "", logging, map[string]any{"BucketLoggingStatus": map[string]any{}}},
	{"AccelerateConfiguration", "PutBucketAccelerateConfiguration", "", accelerate,
		map[string]any{"AccelerateConfiguration": map[string]any{"Status": "Suspended"}}},
	{"NotificationConfiguration", "PutBucketNotificationConfiguration", "", notification,
		map[string]any{"NotificationConfiguration": map[string]any{}}},
}

func bucketSettings(ctx context.Context, r *Request, bucket string) error {
	for _, s := range bucketSettingsInOrder {
		if !r.changed(s.property) {
			continue
		}
		operation, in := s.put, s.nothing
		if r.has(s.property) {
			made, err := s.input(r.Properties[s.property])
			if err != nil {
				return err
			}
			logToItself(made, bucket)
			in = made
		} else if s.remove != "" {
			operation, in = s.remove, nil
		}
		call := map[string]any{"Bucket": bucket}
		for k, v := range in {
			call[k] = v
		}
		if err := r.Call(ctx, "s3", operation, call, nil); err != nil {
			return err
		}
	}
	if acl := nonempty(r.text("AccessControl"), "Private"); acl != nonempty(textOf(r.Previous, "AccessControl"), "Private") {
		if err := r.Call(ctx, "s3", "PutBucketAcl", map[string]any{"Bucket": bucket, "ACL": cannedACL(acl)}, nil); err != nil {
			return err
		}
	}
	tags, before := r.tags(), merge(r.PreviousTags, r.Previous)
	if len(tags) == 0 && len(before) > 0 {
		return r.Call(ctx, "s3", "DeleteBucketTagging", map[string]any{"Bucket": bucket}, nil)
	}
	if set, remove := r.tagChanges(); len(set)+len(remove) > 0 {
		return r.Call(ctx, "s3", "PutBucketTagging", map[string]any{"Bucket": bucket,
			"Tagging": map[string]any{"TagSet": r.tagList()}}, nil)
	}
	return nil
}

// cannedACL converts CloudFormation's name of a canned ACL to S3's: LogDeliveryWrite to log-delivery-write.
func cannedACL(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

func updateBucket(ctx context.Context, r *Request) (State, error) {
	return bucketState(r, r.ID), bucketSettings(ctx, r, r.ID)
}

func wrapped(member string) func(any) (map[string]any, error) {
	return func(v any) (map[string]any, error) { return map[string]any{member: v}, nil }
}

// renamed copies an object and renames its members. names must contain every member, including those that keep their
// name; other members are rejected.
func renamed(v any, path, names string) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, mismatch(path, "object", v)
	}
	to := pick(m, names)
	for k := range m {
		known := false
		for _, n := range strings.Fields(names) {
			from, _, _ := strings.Cut(n, "=")
			known = known || from == k
		}
		if !known {
			return nil, &PropertyError{Problems: []string{path + ": extraneous key [" + k + "] is not permitted"}}
		}
	}
	return to, nil
}

// each applies f to each object of a list.
func each(v any, path string, f func(any, string) (map[string]any, error)) ([]any, error) {
	l, ok := v.([]any)
	if !ok {
		return nil, mismatch(path, "list", v)
	}
	to := []any{}
	for _, e := range l {
		m, err := f(e, path)
		if err != nil {
			return nil, err
		}
		to = append(to, m)
	}
	return to, nil
}

func encryption(v any) (map[string]any, error) {
	m, err := renamed(v, "#/BucketEncryption", "ServerSideEncryptionConfiguration")
	if err != nil {
		return nil, err
	}
	rules, err := each(m["ServerSideEncryptionConfiguration"], "#/BucketEncryption/ServerSideEncryptionConfiguration",
		func(e any, path string) (map[string]any, error) {
			return renamed(e, path, "ServerSideEncryptionByDefault=ApplyServerSideEncryptionByDefault BucketKeyEnabled BlockedEncryptionTypes")
		})
	return map[string]any{"ServerSideEncryptionConfiguration": map[string]any{"Rules": rules}}, err
}

func lifecycle(v any) (map[string]any, error) {
	const path = "#/LifecycleConfiguration"
	m, err := renamed(v, path, "Rules TransitionDefaultMinimumObjectSize")
	if err != nil {
		return nil, err
	}
	rules, err := each(m["Rules"], path+"/Rules", lifecycleRule)
	in := map[string]any{"LifecycleConfiguration": map[string]any{"Rules": rules}}
	set(in, "TransitionDefaultMinimumObjectSize", m["TransitionDefaultMinimumObjectSize"])
	return in, err
}

func lifecycleRule(v any, path string) (map[string]any, error) {
	rule, err := renamed(v, path, `Id=ID Status Prefix ExpirationInDays ExpirationDate ExpiredObjectDeleteMarker Transition
		Transitions NoncurrentVersionExpiration NoncurrentVersionExpirationInDays NoncurrentVersionTransitions
		AbortIncompleteMultipartUpload TagFilters ObjectSizeGreaterThan ObjectSizeLessThan`)
	if err != nil {
		return nil, err
	}
	to := pick(rule, "ID Status NoncurrentVersionExpiration AbortIncompleteMultipartUpload")
	if rule["NoncurrentVersionExpirationInDays"] != nil {
		to["NoncurrentVersionExpiration"] = map[string]any{"NoncurrentDays": rule["NoncurrentVersionExpirationInDays"]}
	}
	set(to, "Expiration", pick(rule,
		"ExpirationInDays=Days ExpirationDate=Date ExpiredObjectDeleteMarker"))
	transitions := list(rule, "Transitions")
	if t, ok := rule["Transition"]; ok {
		transitions = append(transitions, t)
	}
	if len(transitions) > 0 {
		made, err := each(transitions, path+"/Transitions", func(e any, path string) (map[string]any, error) {
			return renamed(e, path, "StorageClass TransitionInDays=Days TransitionDate=Date")
		})
		if err != nil {
			return nil, err
		}
		to["Transitions"] = made
	}
	if rule["NoncurrentVersionTransitions"] != nil {
		made, err := each(rule["NoncurrentVersionTransitions"], path+"/NoncurrentVersionTransitions",
			func(e any, path string) (map[string]any, error) {
				return renamed(e, path, "StorageClass TransitionInDays=NoncurrentDays NewerNoncurrentVersions")
			})
		if err != nil {
			return nil, err
		}
		to["NoncurrentVersionTransitions"] = made
	}
	// A filter with a single part has no And; one with several parts has one. A filter without any part is an empty
	// prefix.
	parts := pick(rule, "Prefix ObjectSizeGreaterThan ObjectSizeLessThan")
	tags := list(rule, "TagFilters")
	switch {
	case len(parts)+len(tags) == 0:
		to["Filter"] = map[string]any{"Prefix": ""}
	case len(parts)+len(tags) == 1 && len(tags) == 1:
		to["Filter"] = map[string]any{"Tag": tags[0]}
	case len(parts)+len(tags) == 1:
		to["Filter"] = parts
	default:
		set(parts, "Tags", tags)
		to["Filter"] = map[string]any{"And": parts}
	}
	return to, nil
}

func cors(v any) (map[string]any, error) {
	m, err := renamed(v, "#/CorsConfiguration", "CorsRules")
	if err != nil {
		return nil, err
	}
	rules, err := each(m["CorsRules"], "#/CorsConfiguration/CorsRules", func(e any, path string) (map[string]any, error) {
		return renamed(e, path, "AllowedHeaders AllowedMethods AllowedOrigins ExposedHeaders=ExposeHeaders Id=ID MaxAge=MaxAgeSeconds")
	})
	return map[string]any{"CORSConfiguration": map[string]any{"CORSRules": rules}}, err
}

func website(v any) (map[string]any, error) {
	m, err := renamed(v, "#/WebsiteConfiguration", "IndexDocument ErrorDocument RedirectAllRequestsTo")
	if err != nil {
		return nil, err
	}
	to := pick(m, "RedirectAllRequestsTo")
	if s := textOf(m, "IndexDocument"); s != "" {
		to["IndexDocument"] = map[string]any{"Suffix": s}
	}
	if s := textOf(m, "ErrorDocument"); s != "" {
		to["ErrorDocument"] = map[string]any{"Key": s}
	}
	return map[string]any{"WebsiteConfiguration": to}, nil
}

func logging(v any) (map[string]any, error) {
	m, err := renamed(v, "#/LoggingConfiguration",
		"DestinationBucketName=TargetBucket LogFilePrefix=TargetPrefix TargetObjectKeyFormat")
	if err != nil {
		return nil, err
	}
	if _, ok := m["TargetPrefix"]; !ok {
		m["TargetPrefix"] = ""
	}
	return map[string]any{"BucketLoggingStatus": map[string]any{"LoggingEnabled": m}}, nil
}

// logToItself sets the target of logs that name none: the bucket itself.
func logToItself(in map[string]any, bucket string) {
	status, _ := in["BucketLoggingStatus"].(map[string]any)
	if enabled, ok := status["LoggingEnabled"].(map[string]any); ok && enabled["TargetBucket"] == nil {
		enabled["TargetBucket"] = bucket
	}
}

func accelerate(v any) (map[string]any, error) {
	m, err := renamed(v, "#/AccelerateConfiguration", "AccelerationStatus=Status")
	return map[string]any{"AccelerateConfiguration": m}, err
}

func notification(v any) (map[string]any, error) {
	const path = "#/NotificationConfiguration"
	m, err := renamed(v, path, "EventBridgeConfiguration LambdaConfigurations QueueConfigurations TopicConfigurations")
	if err != nil {
		return nil, err
	}
	to := map[string]any{}
	if e, ok := m["EventBridgeConfiguration"].(map[string]any); ok {
		if textOf(e, "EventBridgeEnabled") != "false" {
			to["EventBridgeConfiguration"] = map[string]any{}
		}
	}
	for _, kind := range []struct{ property, member, target, arn string }{
		{"LambdaConfigurations", "LambdaFunctionConfigurations", "Function", "LambdaFunctionArn"},
		{"QueueConfigurations", "QueueConfigurations", "Queue", "QueueArn"},
		{"TopicConfigurations", "TopicConfigurations", "Topic", "TopicArn"},
	} {
		if m[kind.property] == nil {
			continue
		}
		made, err := each(m[kind.property], path+"/"+kind.property, func(e any, path string) (map[string]any, error) {
			c, err := renamed(e, path, "Event Filter "+kind.target+"="+kind.arn)
			if err != nil {
				return nil, err
			}
			one := pick(c, kind.arn)
			one["Events"] = []any{c["Event"]}
			if f := object(c, "Filter"); f != nil {
				one["Filter"] = map[string]any{"Key": map[string]any{"FilterRules": list(object(f, "S3Key"), "Rules")}}
			}
			return one, nil
		})
		if err != nil {
			return nil, err
		}
		to[kind.member] = made
	}
	return map[string]any{"NotificationConfiguration": to}, nil
}

func readBucket(ctx context.Context, r *Request) (map[string]any, error) {
	of := map[string]any{"Bucket": r.ID}
	if err := r.Call(ctx, "s3", "HeadBucket", of, nil); err != nil {
		if absent(err) || code(err) == "404" {
			return nil, ErrGone
		}
		return nil, err
	}
	p := map[string]any{"BucketName": r.ID}
	var versioning struct{ Status string }
	if err := r.Call(ctx, "s3", "GetBucketVersioning", of, &versioning); err == nil && versioning.Status != "" {
		p["VersioningConfiguration"] = map[string]any{"Status": versioning.Status}
	}
	var block struct{ PublicAccessBlockConfiguration json.RawMessage }
	err := r.Call(ctx, "s3", "GetPublicAccessBlock", of, &block)
	if err == nil {
		p["PublicAccessBlockConfiguration"] = parsed(string(block.PublicAccessBlockConfiguration))
	}
	var apiError interface{ HTTPStatusCode() int }
	if err != nil && !errors.As(err, &apiError) {
		return nil, err
	}
	return p, nil
}

func listBuckets(ctx context.Context, r *Request) ([]string, error) {
	var out struct{ Buckets []struct{ Name string } }
	err := r.Call(ctx, "s3", "ListBuckets", nil, &out)
	ids := make([]string, len(out.Buckets))
	for i, b := range out.Buckets {
		ids[i] = b.Name
	}
	return ids, err
}
