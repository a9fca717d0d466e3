package jvm

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	maxEntries  = 20_000  // jars of the user, with those in jars and folders
	maxUnpacked = 4 << 30 // bytes that are unpacked
)

// unpacked returns the entries of a class path for the user's jars, wars and folders, and those of them whose classes are built from values: all
// but well-known libraries in a folder or another jar. What Java cannot read (the classes and jars in a Spring Boot jar or a war) is unpacked to a
// folder.
func unpacked(paths []string, folder string) (entries, built []string, err error) {
	u := unpacker{folder: folder}
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(p)
		switch {
		case err != nil:
			return nil, nil, err
		case info.IsDir():
			err = u.dir(p)
		default:
			err = u.jar(p)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	return u.entries, u.built, nil
}

type unpacker struct {
	folder         string
	entries, built []string
	bytes          int64
	count          int
}

// libraries are beginnings of the names of jars that applications have in addition to their own: frameworks, serializers, and those whose classes, put
// together as an attacker likes, run commands when they are compared, hashed or printed.
var libraries = []string{
	"HikariCP-", "aspectj", "bcel-", "bsh-", "byte-buddy-", "c3p0-", "cglib-", "clojure-", "commons-beanutils", "commons-collections",
	"commons-configuration", "commons-dbcp", "commons-fileupload", "commons-jxpath", "commons-logging-", "commons-pool", "druid-", "dubbo-2", "dubbo-3",
	"dubbo-common-", "dubbo-remoting-", "dubbo-rpc-", "dubbo-serialization-", "ehcache-", "fastjson-", "fastjson2-", "freemarker-", "fst-", "groovy-",
	"h2-", "hessian-", "hessian-lite-", "hibernate-", "hsqldb-", "jackson-core-", "jackson-databind-", "jackson-dataformat", "jackson-datatype",
	"javassist-", "jboss-", "jdom", "json-lib-", "jython-", "kryo-", "kryo-serializers-", "log4j", "logback-", "mchange-", "mvel", "mybatis-",
	"mysql-connector", "netty-", "objenesis-", "ognl-", "openjpa-", "postgresql-", "quartz-", "reflectasm-", "resin-", "rhino-", "rome-",
	"scala-library-", "shiro-", "slf4j-", "snakeyaml-", "spring-aop-", "spring-aspects-", "spring-beans-", "spring-boot-", "spring-context-",
	"spring-core-", "spring-expression-", "spring-jcl-", "spring-jdbc-", "spring-orm-", "spring-tx-", "spring-web", "tomcat-", "tomcat-embed-",
	"vaadin-", "velocity-", "weld-", "wicket-", "xalan-", "xbean-", "xerces", "xstream-",
}

// add adds entries whose classes are built.
func (u *unpacker) add(entries ...string) {
	u.entries, u.built = append(u.entries, entries...), append(u.built, entries...)
}

// addNested adds a jar in a folder or another jar. name is its own.
func (u *unpacker) addNested(file, name string) {
	u.entries = append(u.entries, file)
	for _, l := range libraries {
		if strings.HasPrefix(name, l) {
			return
		}
	}
	u.built = append(u.built, file)
}

// dir adds a folder, its folders of classes, and the jars in it.
func (u *unpacker) dir(root string) error {
	u.add(root)
	return filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case len(u.entries) > maxEntries:
			return fmt.Errorf("more than %d jars", maxEntries)
		case e.IsDir() && e.Name() == "classes" && isInf(filepath.Base(filepath.Dir(p))):
			u.add(p)
		case e.Type().IsRegular() && strings.HasSuffix(p, ".jar"):
			u.addNested(p, e.Name())
		}
		return nil
	})
}

func isInf(name string) bool { return name == "BOOT-INF" || name == "WEB-INF" }

// jar adds a jar. The classes of an application that is packed for a server or with Spring Boot come first, then the jars in it.
func (u *unpacker) jar(file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close() //nolint:errcheck // only read
	u.count++
	folder := filepath.Join(u.folder, fmt.Sprint(u.count))
	classes := filepath.Join(folder, "classes")
	var jars []string
	hasClasses := false
	for _, f := range z.File {
		inf, rest, _ := strings.Cut(f.Name, "/")
		switch name, isClass := strings.CutPrefix(rest, "classes/"); {
		case f.FileInfo().IsDir():
		case isInf(inf) && isClass:
			if !fs.ValidPath(name) || strings.Contains(name, "\\") { // it would leave the folder
				continue
			}
			hasClasses = true
			if err := u.file(f, filepath.Join(classes, filepath.FromSlash(name))); err != nil {
				return err
			}
		case strings.HasSuffix(f.Name, ".jar"):
			if len(u.entries)+len(jars) > maxEntries {
				return fmt.Errorf("more than %d jars", maxEntries)
			}
			name := filepath.Join(folder, fmt.Sprintf("%d-%s", len(jars), safeName(path.Base(f.Name))))
			if err := u.file(f, name); err != nil {
				return err
			}
			jars = append(jars, name)
		}
	}
	if hasClasses {
		u.add(classes)
	}
	u.add(file)
	for _, j := range jars {
		_, name, _ := strings.Cut(filepath.Base(j), "-") // the number
		u.addNested(j, name)
	}
	return nil
}

// safeName is a file name without what is special to a class path.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, name)
	return name[max(0, len(name)-100):]
}

// file unpacks a file.
func (u *unpacker) file(f *zip.File, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	defer r.Close()                                                      //nolint:errcheck // only read
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // a name in the folder
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(r, maxUnpacked-u.bytes+1))
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	if u.bytes += n; err == nil && u.bytes > maxUnpacked {
		err = fmt.Errorf("more than %d bytes to unpack", int64(maxUnpacked))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}
