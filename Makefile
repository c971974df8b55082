# stepback: retries in workflows. `make help` lists the targets.
SHELL := /bin/bash
GO ?= go
LINT_VERSION := v2.15.0
VULN_VERSION := v1.8.0
# The linter is stored under its version, outside the checkout, for all checkouts of this machine.
LINT := $(shell $(GO) env GOPATH)/bin/stepback-golangci-lint-$(LINT_VERSION)
BIN := bin
# Nothing here is C: without it there is no C compiler to wait for, and binaries are static. The race detector needs it.
export CGO_ENABLED := 0
# With -trimpath, what one checkout has compiled serves another one in a different folder.
export GOFLAGS := -trimpath $(filter-out -trimpath,$(GOFLAGS))
# Flags of test binaries. go vet is part of make lint, and no debugger reads these binaries: they link in half the time.
LEAN := -vet=off -ldflags="-s -w"
LAMBDAS := validate process aggregate start metrics adapt relay
FUZZTIME ?= 10s
# What make bench-compare compares with, which benchmarks, and how often each runs.
BASE ?= main
BENCH ?= .
COMPARISONS ?= 6
# The first seed of make simulate, make torture and make crash, by default one of the day; how long to simulate, how many kills to survive.
SEED ?= $(shell date +%Y%m%d0000)
DURATION ?= 10m
KILLS ?= 300
# Where `make synth` writes, and what make deploy and make destroy act on.
OUT ?= cdk/cdk.out
ENV ?= dev
# The CDK command line at its pinned version; npx would fetch another. DATABASE=changes has make deploy take another database.
CDK := node_modules/.bin/cdk
CDKFLAGS ?=
# What `make run` breaks on purpose, unless ARGS says otherwise.
ARGS ?= --concurrency 50 \
	--fault ProcessSingleUserRecord:DatabaseConnectionError:3% \
	--fault ApplyBatch:throttle:3% \
	--fault ApplyBatch:crash:10%

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## the main job: a bundled CSV goes through the state machine, with faults (ARGS="--csv FILE …" for your own)
	@echo "compiling stepback; the first time, with downloads, takes a minute or two" >&2
	@# The first time, the standard library is compiled while modules are downloaded. GOGC=400 has the compiler collect
	@# less garbage: a sixth faster, for 0.9 GB of memory instead of 0.6 in the largest package.
	@[ -e $(BIN)/stepback ] || { GOGC=400 $(GO) build net/http html/template database/sql encoding/xml image/png archive/zip & \
		$(GO) list -deps ./cmd/stepback 2>&1 >/dev/null | \
		awk '/^go: downloading/ { if (!(++d % 25)) { printf "  %d modules\n", d; fflush() } ; next } { print }' >&2; wait; }
	@GOGC=400 $(GO) build -v -tags lambda.norpc -ldflags "-s -w" -o $(BIN)/stepback ./cmd/stepback 2> >(awk '/^go: downloading/ { d++ } /^[a-zA-Z0-9._\/-]+$$/ { c++ } \
		!/^go: downloading/ && !/^[a-zA-Z0-9._\/-]+$$/ { print; fflush() } \
		/^go: downloading/ || /^[a-zA-Z0-9._\/-]+$$/ { if (!((d+c) % 25)) { printf "  %d modules, %d packages\n", d, c; fflush() } }' >&2)
	@$(BIN)/stepback run $(ARGS)

.PHONY: test
test: ## all tests
	@# GOGC=400 has the compiler collect less garbage, and is not for the tests: what they link is compiled first.
	@GOGC=400 $(GO) build ./...
	$(GO) test $(LEAN) ./...

.PHONY: browser
browser: ## the console in Chromium, with axe-core judging every page (fetched by npm; MPL 2.0, not part of the repository)
	npm install --no-save --no-audit --no-fund axe-core@4.14.1
	$(GO) test -count=1 -run 'TestBrowser|TestAccessibility' -v ./local/console

.PHONY: race
race: ## all tests under the race detector, with the zstd that is shipped, not the one in C
	CGO_ENABLED=1 $(GO) test -race -tags pebblegozstd ./...

.PHONY: differential
differential: ## the laboratory against the AWS SDK's token bucket and failsafe-go's throttler, in a module of its own
	cd adaptive/lab/differential && $(GO) vet ./... && $(GO) test ./...

.PHONY: crash
crash: ## kill the import with SIGKILL at KILLS random instants chosen by SEED, restart it, and check everything
	STEPBACK_CRASH_SEED=$(SEED) STEPBACK_CRASH_KILLS=$(KILLS) $(GO) test -count=1 -timeout 0 -v -run '^TestCrashes$$' ./cmd/stepback

.PHONY: kill-services
kill-services: ## kill stepback serve with SIGKILL at KILLS random instants chosen by SEED while all its services are loaded, and check everything
	STEPBACK_SEED=$(SEED) STEPBACK_KILLS=$(KILLS) $(GO) test -count=1 -timeout 0 -v -run '^TestKilledServices$$' ./cmd/stepback

.PHONY: outbox-kill
outbox-kill: ## kill application, relay and database of an outbox with SIGKILL at KILLS random instants chosen by SEED, and check every message
	STEPBACK_OUTBOX_SEED=$(SEED) STEPBACK_OUTBOX_KILLS=$(KILLS) $(GO) test -count=1 -timeout 0 -v -run '^TestKills$$' ./outbox

.PHONY: bench-outbox
bench-outbox: ## the outbox: SQLite, PostgreSQL, commit to delivery, and beside River on one server (needs PostgreSQL's binaries)
	$(GO) test -run '^$$' -bench InsertToSent -benchtime 100000x ./outbox/sqlitestore ./outbox/postgresstore
	$(GO) test -run '^$$' -bench CommitToDelivery -benchtime 5000x ./outbox/postgresstore
	cd bench/river && $(GO) test -run '^$$' -bench . -benchtime 50000x .

# Without the tables of debuggers, which are more than a quarter of the command; stack traces need none of them.
.PHONY: build
build: lambdas ## the stepback command and the Lambda bootstraps for this machine, in bin/
	$(GO) build -trimpath -tags lambda.norpc -ldflags "-s -w" -o $(BIN)/stepback ./cmd/stepback

.PHONY: lambdas
lambdas: ## the Lambda bootstraps for this machine, in bin/lambdas/NAME/bootstrap
	@for l in $(LAMBDAS); do \
		CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags lambda.norpc -ldflags "-s -w -buildid=" \
			-o $(BIN)/lambdas/$$l/bootstrap ./lambdas/$$l || exit 1; done

.PHONY: lambdas-arm64
lambdas-arm64: ## the Lambda bootstraps as AWS runs them (provided.al2023, arm64), in dist/lambdas/NAME/bootstrap
	@$(MAKE) --no-print-directory lambdas-for GOARCH=arm64 LAMBDA_OUT=dist/lambdas LAMBDA_TAGS=lambda.norpc,nosqlite

# The same bytes from the same source, wherever it is built, and whatever the umask: Lambda runs them as another user.
LAMBDA_TAGS ?= lambda.norpc
.PHONY: lambdas-for
lambdas-for:
	@for l in $(LAMBDAS); do \
		GOGC=400 GOOS=linux GOARCH=$(GOARCH) CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags $(LAMBDA_TAGS) -ldflags "-s -w -buildid=" \
			-o $(LAMBDA_OUT)/$$l/bootstrap ./lambdas/$$l && chmod 755 $(LAMBDA_OUT)/$$l/bootstrap || exit 1; done

cdk/node_modules: cdk/package-lock.json
	cd cdk && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

.PHONY: synth
synth: lambdas-arm64 cdk/node_modules ## the CloudFormation templates of dev, stg and prod, checked, in OUT; needs no AWS account
	@mkdir -p $(OUT)
	out=$$(cd $(OUT) && pwd) && cd cdk && $(CDK) synth --quiet --no-notices --output $$out -c synthOnly=yes $(CDKFLAGS) && ./check.sh $$out

.PHONY: bootstrap
bootstrap: lambdas-arm64 cdk/node_modules ## make an AWS account and region ready for deployments, once: those of the shell's credentials
	cd cdk && $(CDK) bootstrap --no-notices $(CDKFLAGS)

.PHONY: deploy
deploy: lambdas-arm64 cdk/node_modules ## put the CSV import on AWS: make deploy ENV=dev, with the settings of cdk/environments/dev.json
	cd cdk && node guard.mjs $(ENV) $(if $(filter changes,$(DATABASE)),--database-changes)
	cd cdk && $(CDK) deploy stepback-$(ENV) --no-notices --outputs-file cdk.out/outputs-$(ENV).json $(CDKFLAGS)

.PHONY: destroy
destroy: lambdas-arm64 cdk/node_modules ## take it away again: make destroy ENV=dev EMPTY=yes (with every object in its buckets)
	cd cdk && node guard.mjs $(ENV) --database-changes
	@if [ "$(EMPTY)" = yes ]; then cdk/empty.sh stepback-$(ENV); fi
	cd cdk && $(CDK) destroy stepback-$(ENV) --no-notices $(CDKFLAGS)

.PHONY: cdk-trial
cdk-trial: lambdas-arm64 cdk/node_modules ## bootstrap, deploy twice, diff and destroy against moto_server, or any ENDPOINT=http://…
	@ENDPOINT=$(ENDPOINT) cdk/trial.sh

.PHONY: localstack-up
localstack-up: ## start LocalStack and PostgreSQL in Docker
	docker compose -f localstack/compose.yaml up --detach --wait

.PHONY: localstack-deploy
localstack-deploy: ## deploy the CSV import there, or to any ENDPOINT=http://…
	@ENDPOINT=$(ENDPOINT) CDKFLAGS="$(CDKFLAGS)" localstack/deploy.sh

.PHONY: localstack-run
localstack-run: ## import CSV=FILE there and show the summary
	@ENDPOINT=$(ENDPOINT) localstack/run.sh $(CSV)

.PHONY: serve-trial
serve-trial: ## deploy the CSV import to stepback serve with the AWS command line, twice, and import a file each time
	@localstack/trial.sh

# The environment laptop, by the unmodified CDK command line at `stepback serve`, whose address is ENDPOINT.
LAPTOP_ENV = AWS_ENDPOINT_URL=$(or $(ENDPOINT),http://localhost:4566) AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test \
	AWS_SECRET_ACCESS_KEY=test CDK_HOME=$(CURDIR)/.stepback/cdk CDK_VALIDATION=false
LAPTOP_CDK = cd cdk && $(LAPTOP_ENV) $(CDK) --no-notices --app ../$(BIN)/cdk --output ../$(BIN)/cdk.out \
	-c laptop=$(if $(filter amd64,$(shell $(GO) env GOARCH)),x86_64,arm64) -c bootstraps=../dist/local

.PHONY: laptop
laptop: cdk/node_modules ## what deploys the CSV import to stepback serve: the bootstraps for this machine and the CDK app
	@$(MAKE) --no-print-directory lambdas-for GOARCH=$(shell $(GO) env GOARCH) LAMBDA_OUT=dist/local
	cd cdk && $(GO) build -o ../$(BIN)/cdk .

.PHONY: laptop-deploy
laptop-deploy: laptop ## deploy the CSV import to stepback serve (ENDPOINT=http://…), as to AWS, with the PostgreSQL of DATABASE=postgres://…
	@test -n "$(DATABASE)" || { echo "DATABASE is not set: name a PostgreSQL, such as DATABASE=postgres://postgres@127.0.0.1:5432/import" >&2; exit 2; }
	@curl --silent --show-error --fail --output /dev/null -X POST -H 'X-Amz-Target: AmazonSSM.PutParameter' \
		-H 'Content-Type: application/x-amz-json-1.1' \
		-H 'Authorization: AWS4-HMAC-SHA256 Credential=test/20261122/us-east-1/ssm/aws4_request, SignedHeaders=host, Signature=0' \
		-d '{"Name":"/stepback/laptop/database","Type":"String","Value":"$(DATABASE)","Overwrite":true}' \
		$(or $(ENDPOINT),http://localhost:4566)/
	$(LAPTOP_CDK) bootstrap aws://000000000000/us-east-1
	$(LAPTOP_CDK) deploy stepback-laptop --require-approval never $(CDKFLAGS)

.PHONY: laptop-destroy
laptop-destroy: laptop ## take it away again; EMPTY=yes with every object in its buckets, which takes the AWS command line
	@if [ "$(EMPTY)" = yes ]; then $(LAPTOP_ENV) cdk/empty.sh stepback-laptop; fi
	$(LAPTOP_CDK) destroy stepback-laptop --force $(CDKFLAGS)

.PHONY: laptop-trial
laptop-trial: laptop ## the whole of it on an empty directory: deploy, import with faults and a SIGKILL, alarm and mail, drift, destroy
	STEPBACK_LAPTOP=yes $(GO) test -count=1 -timeout 30m -v -run '^TestLaptop$$' ./cmd/stepback

.PHONY: localstack-down
localstack-down: ## stop them and forget everything
	docker compose -f localstack/compose.yaml down --volumes

.PHONY: cdk-test
cdk-test: ## the tests of the CDK app, which is a module of its own
	cd cdk && $(GO) vet ./... && $(GO) test ./...

.PHONY: bench
bench: ## measure speed and memory, as ratios to a floor measured in the same run
	$(GO) run ./bench

.PHONY: conformance
conformance: ## replay the recordings of the real service over HTTP: a table by group, and every difference (STEPBACK_CONFORMANCE: another folder than internal/recordings/)
	@set -o pipefail; $(GO) test -count=1 -run '^TestRecordings$$' -v ./local/services/stepfunctions | \
		awk '/^=== / {case = $$3; next} /--- (PASS|SKIP)/ {next} \
			/_test\.go:[0-9]+: step/ {if (case != shown) print case; shown = case} {print}'

# FROM holds FORMAT.md, cases, jsonata and jsonpath.
FROM ?= ../shared/conformance
.PHONY: recordings
recordings: ## pack the recordings of FROM into internal/recordings/recordings.tar.zst
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime='2026-11-22 00:00:00Z' -cf - -C $(FROM) \
		FORMAT.md cases jsonata jsonpath | zstd -19 --long=23 -q -f -o internal/recordings/recordings.tar.zst

.PHONY: clients
clients: ## every served operation by boto3, the AWS CLI and the SDKs for JavaScript and Go, and Terraform's life of a stack, against stepback serve (what is not installed is skipped)
	@local/services/clients/run.sh

.PHONY: bench-compare
bench-compare: ## Go benchmarks of a base commit against the working tree: BASE=main BENCH=REGEXP COMPARISONS=6
	bench/compare.sh $(BASE) '$(BENCH)' $(COMPARISONS)

.PHONY: simulate
simulate: ## random state machines, crashes and failing disks against an oracle, for DURATION, from SEED on
	$(GO) test -count=1 -timeout 0 ./engine/simulation -run '^(TestCore|TestShell)$$' -v -first=$(SEED) -for=$(DURATION)

# make torture KILLS=8 DURATION=1m FLIPS=200 FUZZTIME=10s is short enough for every day.
FLIPS ?= 5000
.PHONY: torture
torture: ## what tries to break the engine, from SEED: a server killed and watched, then simulations, each for DURATION; FLIPS of bytes, fuzzing, KILLS of an import
	@echo "SEED=$(SEED) DURATION=$(DURATION) KILLS=$(KILLS) FLIPS=$(FLIPS) FUZZTIME=$(FUZZTIME)"
	STEPBACK_TORTURE=$(DURATION) STEPBACK_SEED=$(SEED) $(GO) test -count=1 -timeout 0 -v -run '^(TestTorture|TestServeGoesOnWhenThereIsRoomAgain|TestServeOnADiskThatIsFull|TestADiskThatIsFull)$$' ./cmd/stepback
	STEPBACK_TORTURE=$(FLIPS) STEPBACK_SEED=$(SEED) $(GO) test -count=1 -timeout 0 -run '^TestNoFlippedByteIsSilent$$' ./engine/journal/pebble
	$(MAKE) --no-print-directory simulate SEED=$(SEED) DURATION=$(DURATION)
	$(MAKE) --no-print-directory fuzz FUZZ_PACKAGES=./local/services/stepfunctions FUZZTIME=$(FUZZTIME)
	$(MAKE) --no-print-directory crash SEED=$(SEED) KILLS=$(KILLS)

.PHONY: fuzz
fuzz: ## every fuzz target of FUZZ_PACKAGES (all) for FUZZTIME each
	@$(GO) list $(or $(FUZZ_PACKAGES),./...) | while read -r p; do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; done; done

.PHONY: generate
generate: ## regenerate golden files and generated docs
	$(GO) generate ./...

# An archive with a model NAME.json for each service, or one with botocore's folder data, such as its wheel.
MODELS ?= ../shared/models/all-services.zip
.PHONY: models
models: ## regenerate the API models of all AWS services, aws/model/models.zip, from botocore's (MODELS=ARCHIVE)
	$(GO) run ./aws/model/generate -models $(MODELS) -out aws/model/models.zip

# A tag names the version; without one it is the commit.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
.PHONY: release
release: ## static binaries for linux, darwin and windows on amd64 and arm64 in dist/release, with checksums and licences
	@internal/release/build.sh $(VERSION)

.PHONY: publish-as
publish-as: ## the module under the path its owner publishes it by: MODULE=github.com/you/stepback, here or in a copy (INTO=DIR)
	@internal/release/publish-as.sh "$(MODULE)" $(INTO)

.PHONY: lint
lint: $(LINT) ## golangci-lint at its pinned version, whatever is in PATH, and the check of plain words
	@$(GO) run ./internal/plainwords/check
	@GOGC=400 $(LINT) run --allow-parallel-runners ./...

$(LINT):
	GOGC=400 GOBIN=$(@D)/install $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv $(@D)/install/golangci-lint $@ && rmdir $(@D)/install

.PHONY: vuln
vuln: ## known vulnerabilities in what is called
	$(GO) run golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION) ./...

.PHONY: clean
clean: ## remove what build and run leave behind
	rm -rf $(BIN) dist .stepback
