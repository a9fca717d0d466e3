//go:build ignore

// image writes a container image with dubbo-wire, without a container engine: an OCI image layout with an index of all
// architectures (OCI image specification 1.1), and for each architecture an archive that docker load and podman load read.
// The same programs give the same digests.
//
//	go run scripts/image.go -out bin/image -version 1.2.3 -revision COMMIT -time SECONDS -licenses FILE amd64=PROGRAM...
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"

	user = 65532 // "nonroot" of images without a distribution
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    *platform         `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        *descriptor       `json:"config,omitempty"`
	Layers        []descriptor      `json:"layers,omitempty"`
	Manifests     []descriptor      `json:"manifests,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

var (
	out      = flag.String("out", "bin/image", "folder")
	version  = flag.String("version", "", "of the program")
	revision = flag.String("revision", "", "of the source")
	seconds  = flag.Int64("time", 0, "of all files, since 1970")
	licenses = flag.String("licenses", "", "file with the licenses of the program")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	tag := regexp.MustCompile(`[^\w.-]`).ReplaceAllString(*version, "-")
	about := map[string]string{
		"org.opencontainers.image.title":       "dubbo-wire",
		"org.opencontainers.image.description": "Measures Apache Dubbo calls in packet captures and on network interfaces",
		"org.opencontainers.image.version":     *version,
		"org.opencontainers.image.revision":    *revision,
		"org.opencontainers.image.created":     created().Format(time.RFC3339),
	}
	license := must(os.ReadFile(*licenses))
	all := blobs{}
	index := manifest{SchemaVersion: 2, MediaType: indexType, Annotations: about}
	for _, arg := range flag.Args() {
		arch, program, _ := strings.Cut(arg, "=")
		one := blobs{}
		m := one.image(arch, layer(must(os.ReadFile(program)), license), about)
		index.Manifests = append(index.Manifests, m)
		for digest, b := range one {
			all[digest] = b
		}
		save(filepath.Join(*out, fmt.Sprintf("dubbo-wire_%s_linux_%s.image.tar", *version, arch)), archive(one, m, tag))
	}
	top := all.put(indexType, encode(index))
	top.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag}
	for name, b := range layout(all, top) {
		save(filepath.Join(*out, "oci", name), b)
	}
	fmt.Printf("%s:%s %s\n", filepath.Join(*out, "oci"), tag, top.Digest)
}

func created() time.Time { return time.Unix(*seconds, 0).UTC() }

// blobs are the contents of an image by digest.
type blobs map[string][]byte

func (all blobs) put(mediaType string, b []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(b), Size: len(b)}
	all[d.Digest] = b
	return d
}

// image adds an image with one layer, which is an uncompressed tar, and returns its manifest.
func (all blobs) image(arch string, layer []byte, about map[string]string) descriptor {
	var packed bytes.Buffer
	z := must(gzip.NewWriterLevel(&packed, gzip.BestCompression))
	must(z.Write(layer))
	check(z.Close())
	config := all.put(configType, encode(map[string]any{
		"architecture": arch, "os": "linux", "created": created().Format(time.RFC3339),
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%[1]d", user), "WorkingDir": "/data", "Labels": about,
			"Entrypoint": []string{"/usr/bin/dubbo-wire"}, "Env": []string{"PATH=/usr/bin"},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{digest(layer)}},
		"history": []any{map[string]any{"created": created().Format(time.RFC3339), "created_by": "scripts/image.go"}},
	}))
	m := all.put(manifestType, encode(manifest{
		SchemaVersion: 2, MediaType: manifestType, Config: &config, Layers: []descriptor{all.put(layerType, packed.Bytes())}, Annotations: about,
	}))
	m.Platform = &platform{arch, "linux"}
	return m
}

// layer returns the files of the image as a tar.
func layer(program, license []byte) []byte {
	t := newTar()
	for _, dir := range []string{"data/", "etc/", "usr/", "usr/bin/", "usr/share/", "usr/share/doc/", "usr/share/doc/dubbo-wire/"} {
		t.add(&tar.Header{Name: dir, Mode: 0o755}, nil)
	}
	t.add(&tar.Header{Name: "tmp/", Mode: 0o1777}, nil)
	t.add(&tar.Header{Name: "etc/passwd", Mode: 0o644}, fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%[1]d:nonroot:/data:/sbin/nologin\n", user))
	t.add(&tar.Header{Name: "etc/group", Mode: 0o644}, fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user))
	// The program may have CAP_NET_RAW, and makes it effective itself (capabilities(7), setcap cap_net_raw+p). If it were effective at
	// once, the program would not start in containers without the capability.
	right := binary.LittleEndian.AppendUint32(nil, 0x02000000) // VFS_CAP_REVISION_2
	for _, set := range []uint32{1 << 13, 0, 0, 0} {           // permitted and inheritable, twice
		right = binary.LittleEndian.AppendUint32(right, set)
	}
	t.add(&tar.Header{
		Name: "usr/bin/dubbo-wire", Mode: 0o755,
		Format: tar.FormatPAX, PAXRecords: map[string]string{"SCHILY.xattr.security.capability": string(right)},
	}, program)
	t.add(&tar.Header{Name: "usr/share/doc/dubbo-wire/copyright", Mode: 0o644}, license)
	return t.end()
}

// layout returns the files of an OCI image layout whose index has one entry.
func layout(all blobs, top descriptor) map[string][]byte {
	files := map[string][]byte{
		"oci-layout": encode(map[string]string{"imageLayoutVersion": "1.0.0"}),
		"index.json": encode(manifest{SchemaVersion: 2, MediaType: indexType, Manifests: []descriptor{top}}),
	}
	for digest, b := range all {
		files[blobName(digest)] = b
	}
	return files
}

// archive returns the layout of one image as a tar, with the manifest.json that docker load needs before version 25.
func archive(all blobs, m descriptor, tag string) []byte {
	m.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": "docker.io/library/dubbo-wire:" + tag}
	files := layout(all, m)
	var parts manifest
	check(json.Unmarshal(all[m.Digest], &parts))
	files["manifest.json"] = encode([]any{map[string]any{
		"Config": blobName(parts.Config.Digest), "RepoTags": []string{"dubbo-wire:" + tag}, "Layers": []string{blobName(parts.Layers[0].Digest)},
	}})
	t := newTar()
	for _, dir := range []string{"blobs/", "blobs/sha256/"} {
		t.add(&tar.Header{Name: dir, Mode: 0o755}, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.add(&tar.Header{Name: name, Mode: 0o644}, files[name])
	}
	return t.end()
}

func blobName(digest string) string { return "blobs/" + strings.ReplaceAll(digest, ":", "/") }

func digest(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

// tarFile is a tar of files that root owns, all of the same time.
type tarFile struct {
	buf bytes.Buffer
	w   *tar.Writer
}

func newTar() *tarFile {
	t := new(tarFile)
	t.w = tar.NewWriter(&t.buf)
	return t
}

func (t *tarFile) add(h *tar.Header, b []byte) {
	h.ModTime, h.Size = created(), int64(len(b))
	if h.Typeflag = tar.TypeReg; strings.HasSuffix(h.Name, "/") {
		h.Typeflag = tar.TypeDir
	}
	check(t.w.WriteHeader(h))
	must(t.w.Write(b))
}

func (t *tarFile) end() []byte {
	check(t.w.Close())
	return t.buf.Bytes()
}

func encode(v any) []byte { return must(json.Marshal(v)) }

func save(name string, b []byte) {
	check(os.MkdirAll(filepath.Dir(name), fs.ModePerm))
	check(os.WriteFile(name, b, 0o644))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
