package org.dubbowire.rig.thrift;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.thrift.ProcessFunction;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TBaseProcessor;
import org.apache.thrift.TException;
import org.apache.thrift.TServiceClient;
import org.apache.thrift.protocol.TProtocol;

/**
 * A service in the form that the Thrift compiler generates: the names of classes, methods and fields are those that Dubbo looks for. A boolean has no getter with
 * "get", and a void method's result has no field 0, as there.
 */
public final class Catalog {
    private Catalog() {
    }

    public interface Iface {
        void ping() throws TException;

        boolean flag(boolean value) throws TException;

        byte small(byte value) throws TException;

        short little(short value) throws TException;

        int plain(int value) throws TException;

        long wide(long value) throws TException;

        double real(double value) throws TException;

        String text(String value) throws TException;

        ByteBuffer bytes(ByteBuffer value) throws TException;

        Genre genre(Genre value) throws TException;

        Book book(Book value) throws TException;

        List<Book> books(List<Long> ids) throws TException;

        Set<String> tags(Set<String> value) throws TException;

        Map<String, Long> count(Map<String, List<Integer>> value) throws TException;

        List<Boolean> bools(List<Boolean> value) throws TException;

        Map<String, Map<Integer, Book>> shelves(int number) throws TException;

        Legacy legacy(Legacy value) throws TException;

        Book find(long id) throws Missing, Refused, TException;

        void verify(String how) throws Missing, TException;

        void note(String text) throws TException;

        int all(boolean a, byte b, short c, int d, long e, double f, String g, ByteBuffer h, Genre i) throws TException;

        int most(byte b, short c, int d, long e, double f, String g, Genre i) throws TException;

        String fail(String how) throws TException;

        String none(String how) throws TException;
    }

    public static final class Client extends TServiceClient implements Iface {
        public Client(TProtocol protocol) {
            super(protocol);
            Tap.into(protocol);
        }

        /** A method that no server has. */
        public void nowhere() throws TException {
            call("nowhere", new ping_args(), new ping_result());
        }

        private TBase<?, ?> call(String name, Struct<?> args, Struct<?> result) throws TException {
            sendBase(name, args);
            receiveBase(result, name);
            boolean returns = false;
            for (Struct.FieldId f : Struct.fields(result.getClass())) {
                Object value = f.get(result);
                if (value instanceof TException failure) {
                    throw failure;
                }
                if (value != null) {
                    return result;
                }
                returns |= f.getThriftFieldId() == 0;
            }
            if (returns) {
                throw new TApplicationException(TApplicationException.MISSING_RESULT, name + " failed: unknown result");
            }
            return result;
        }

        @Override
        public void ping() throws TException {
            ping_args args = new ping_args();
            call("ping", args, new ping_result());
        }

        @Override
        public boolean flag(boolean value) throws TException {
            flag_args args = new flag_args();
            args.value = value;
            return ((flag_result) call("flag", args, new flag_result())).success;
        }

        @Override
        public byte small(byte value) throws TException {
            small_args args = new small_args();
            args.value = value;
            return ((small_result) call("small", args, new small_result())).success;
        }

        @Override
        public short little(short value) throws TException {
            little_args args = new little_args();
            args.value = value;
            return ((little_result) call("little", args, new little_result())).success;
        }

        @Override
        public int plain(int value) throws TException {
            plain_args args = new plain_args();
            args.value = value;
            return ((plain_result) call("plain", args, new plain_result())).success;
        }

        @Override
        public long wide(long value) throws TException {
            wide_args args = new wide_args();
            args.value = value;
            return ((wide_result) call("wide", args, new wide_result())).success;
        }

        @Override
        public double real(double value) throws TException {
            real_args args = new real_args();
            args.value = value;
            return ((real_result) call("real", args, new real_result())).success;
        }

        @Override
        public String text(String value) throws TException {
            text_args args = new text_args();
            args.value = value;
            return ((text_result) call("text", args, new text_result())).success;
        }

        @Override
        public ByteBuffer bytes(ByteBuffer value) throws TException {
            bytes_args args = new bytes_args();
            args.value = value;
            return ((bytes_result) call("bytes", args, new bytes_result())).success;
        }

        @Override
        public Genre genre(Genre value) throws TException {
            genre_args args = new genre_args();
            args.value = value;
            return ((genre_result) call("genre", args, new genre_result())).success;
        }

        @Override
        public Book book(Book value) throws TException {
            book_args args = new book_args();
            args.value = value;
            return ((book_result) call("book", args, new book_result())).success;
        }

        @Override
        public List<Book> books(List<Long> ids) throws TException {
            books_args args = new books_args();
            args.ids = ids;
            return ((books_result) call("books", args, new books_result())).success;
        }

        @Override
        public Set<String> tags(Set<String> value) throws TException {
            tags_args args = new tags_args();
            args.value = value;
            return ((tags_result) call("tags", args, new tags_result())).success;
        }

        @Override
        public Map<String, Long> count(Map<String, List<Integer>> value) throws TException {
            count_args args = new count_args();
            args.value = value;
            return ((count_result) call("count", args, new count_result())).success;
        }

        @Override
        public List<Boolean> bools(List<Boolean> value) throws TException {
            bools_args args = new bools_args();
            args.value = value;
            return ((bools_result) call("bools", args, new bools_result())).success;
        }

        @Override
        public Map<String, Map<Integer, Book>> shelves(int number) throws TException {
            shelves_args args = new shelves_args();
            args.number = number;
            return ((shelves_result) call("shelves", args, new shelves_result())).success;
        }

        @Override
        public Legacy legacy(Legacy value) throws TException {
            legacy_args args = new legacy_args();
            args.value = value;
            return ((legacy_result) call("legacy", args, new legacy_result())).success;
        }

        @Override
        public Book find(long id) throws TException {
            find_args args = new find_args();
            args.id = id;
            return ((find_result) call("find", args, new find_result())).success;
        }

        @Override
        public void verify(String how) throws TException {
            verify_args args = new verify_args();
            args.how = how;
            call("verify", args, new verify_result());
        }

        @Override
        public void note(String text) throws TException {
            note_args args = new note_args();
            args.text = text;
            sendBaseOneway("note", args);
        }

        @Override
        public int all(boolean a, byte b, short c, int d, long e, double f, String g, ByteBuffer h, Genre i) throws TException {
            all_args args = new all_args();
            args.a = a;
            args.b = b;
            args.c = c;
            args.d = d;
            args.e = e;
            args.f = f;
            args.g = g;
            args.h = h;
            args.i = i;
            return ((all_result) call("all", args, new all_result())).success;
        }

        @Override
        public int most(byte b, short c, int d, long e, double f, String g, Genre i) throws TException {
            most_args args = new most_args();
            args.b = b;
            args.c = c;
            args.d = d;
            args.e = e;
            args.f = f;
            args.g = g;
            args.i = i;
            return ((most_result) call("most", args, new most_result())).success;
        }

        @Override
        public String fail(String how) throws TException {
            fail_args args = new fail_args();
            args.how = how;
            return ((fail_result) call("fail", args, new fail_result())).success;
        }

        @Override
        public String none(String how) throws TException {
            none_args args = new none_args();
            args.how = how;
            return ((none_result) call("none", args, new none_result())).success;
        }
    }

    /** Only with libthrift 0.9.3 and later, up to 0.12. */
    public static final class Processor extends TBaseProcessor<Iface> {
        public Processor(Iface iface) {
            super(iface, functions());
        }

        @Override
        public boolean process(TProtocol in, TProtocol out) throws TException {
            Tap.into(out);
            return super.process(in, out);
        }

        private static Map<String, ProcessFunction<Iface, ? extends TBase>> functions() {
            return new Functions().all;
        }
    }

    private interface Body<A, R> {
        void run(Iface iface, A args, R result) throws TException;
    }

    private interface OneWayBody<A> {
        void run(Iface iface, A args) throws TException;
    }

    private static final class Functions {
        final Map<String, ProcessFunction<Iface, ? extends TBase>> all = new HashMap<>();

        Functions() {
            method("ping", ping_args::new, ping_result::new, (iface, args, result) -> iface.ping());
            method("flag", flag_args::new, flag_result::new, (iface, args, result) -> result.success = iface.flag(args.value));
            method("small", small_args::new, small_result::new, (iface, args, result) -> result.success = iface.small(args.value));
            method("little", little_args::new, little_result::new, (iface, args, result) -> result.success = iface.little(args.value));
            method("plain", plain_args::new, plain_result::new, (iface, args, result) -> result.success = iface.plain(args.value));
            method("wide", wide_args::new, wide_result::new, (iface, args, result) -> result.success = iface.wide(args.value));
            method("real", real_args::new, real_result::new, (iface, args, result) -> result.success = iface.real(args.value));
            method("text", text_args::new, text_result::new, (iface, args, result) -> result.success = iface.text(args.value));
            method("bytes", bytes_args::new, bytes_result::new, (iface, args, result) -> result.success = iface.bytes(args.value));
            method("genre", genre_args::new, genre_result::new, (iface, args, result) -> result.success = iface.genre(args.value));
            method("book", book_args::new, book_result::new, (iface, args, result) -> result.success = iface.book(args.value));
            method("books", books_args::new, books_result::new, (iface, args, result) -> result.success = iface.books(args.ids));
            method("tags", tags_args::new, tags_result::new, (iface, args, result) -> result.success = iface.tags(args.value));
            method("count", count_args::new, count_result::new, (iface, args, result) -> result.success = iface.count(args.value));
            method("bools", bools_args::new, bools_result::new, (iface, args, result) -> result.success = iface.bools(args.value));
            method("shelves", shelves_args::new, shelves_result::new, (iface, args, result) -> result.success = iface.shelves(args.number));
            method("legacy", legacy_args::new, legacy_result::new, (iface, args, result) -> result.success = iface.legacy(args.value));
            method("find", find_args::new, find_result::new, (iface, args, result) -> result.success = iface.find(args.id));
            method("verify", verify_args::new, verify_result::new, (iface, args, result) -> iface.verify(args.how));
            oneWay("note", note_args::new, (iface, args) -> iface.note(args.text));
            method("all", all_args::new, all_result::new, (iface, args, result) -> result.success = iface.all(args.a, args.b, args.c, args.d, args.e, args.f, args.g, args.h, args.i));
            method("most", most_args::new, most_result::new, (iface, args, result) -> result.success = iface.most(args.b, args.c, args.d, args.e, args.f, args.g, args.i));
            method("fail", fail_args::new, fail_result::new, (iface, args, result) -> result.success = iface.fail(args.how));
            method("none", none_args::new, none_result::new, (iface, args, result) -> result.success = iface.none(args.how));
        }

        private <A extends Struct<A>, R extends Struct<R>> void method(String name, Supplier<A> args, Supplier<R> result, Body<A, R> body) {
            all.put(name, new Function<>(name, args, result, body, false));
        }

        private <A extends Struct<A>> void oneWay(String name, Supplier<A> args, OneWayBody<A> body) {
            all.put(name, new Function<A, ping_result>(name, args, ping_result::new, (iface, a, result) -> body.run(iface, a), true));
        }
    }

    private static final class Function<A extends Struct<A>, R extends Struct<R>> extends ProcessFunction<Iface, A> {
        private final Supplier<A> args;
        private final Supplier<R> result;
        private final Body<A, R> body;
        private final boolean oneWay;

        Function(String name, Supplier<A> args, Supplier<R> result, Body<A, R> body, boolean oneWay) {
            super(name);
            this.args = args;
            this.result = result;
            this.body = body;
            this.oneWay = oneWay;
        }

        @Override
        protected boolean isOneway() {
            return oneWay;
        }

        @Override
        public A getEmptyArgsInstance() {
            return args.get();
        }

        @Override
        public TBase<?, ?> getResult(Iface iface, A a) throws TException {
            R r = result.get();
            try {
                body.run(iface, a, r);
            } catch (TException e) {
                for (Struct.FieldId f : Struct.fields(r.getClass())) {
                    if (f.type() == e.getClass()) {
                        f.set(r, e);
                        return r;
                    }
                }
                throw e;
            }
            return oneWay ? null : r;
        }
    }

    public static final class ping_args implements Struct<ping_args> {
    }

    public static final class ping_result implements Struct<ping_result> {
    }

    public static final class flag_args implements Struct<flag_args> {
        @Id(1)
        public boolean value;

        public boolean isValue() {
            return value;
        }

        public void setValue(boolean value) {
            this.value = value;
        }
    }

    public static final class flag_result implements Struct<flag_result> {
        @Id(0)
        public Boolean success;

        public Boolean isSuccess() {
            return success;
        }

        public void setSuccess(Boolean success) {
            this.success = success;
        }
    }

    public static final class small_args implements Struct<small_args> {
        @Id(1)
        public byte value;

        public byte getValue() {
            return value;
        }

        public void setValue(byte value) {
            this.value = value;
        }
    }

    public static final class small_result implements Struct<small_result> {
        @Id(0)
        public Byte success;

        public Byte getSuccess() {
            return success;
        }

        public void setSuccess(Byte success) {
            this.success = success;
        }
    }

    public static final class little_args implements Struct<little_args> {
        @Id(1)
        public short value;

        public short getValue() {
            return value;
        }

        public void setValue(short value) {
            this.value = value;
        }
    }

    public static final class little_result implements Struct<little_result> {
        @Id(0)
        public Short success;

        public Short getSuccess() {
            return success;
        }

        public void setSuccess(Short success) {
            this.success = success;
        }
    }

    public static final class plain_args implements Struct<plain_args> {
        @Id(1)
        public int value;

        public int getValue() {
            return value;
        }

        public void setValue(int value) {
            this.value = value;
        }
    }

    public static final class plain_result implements Struct<plain_result> {
        @Id(0)
        public Integer success;

        public Integer getSuccess() {
            return success;
        }

        public void setSuccess(Integer success) {
            this.success = success;
        }
    }

    public static final class wide_args implements Struct<wide_args> {
        @Id(1)
        public long value;

        public long getValue() {
            return value;
        }

        public void setValue(long value) {
            this.value = value;
        }
    }

    public static final class wide_result implements Struct<wide_result> {
        @Id(0)
        public Long success;

        public Long getSuccess() {
            return success;
        }

        public void setSuccess(Long success) {
            this.success = success;
        }
    }

    public static final class real_args implements Struct<real_args> {
        @Id(1)
        public double value;

        public double getValue() {
            return value;
        }

        public void setValue(double value) {
            this.value = value;
        }
    }

    public static final class real_result implements Struct<real_result> {
        @Id(0)
        public Double success;

        public Double getSuccess() {
            return success;
        }

        public void setSuccess(Double success) {
            this.success = success;
        }
    }

    public static final class text_args implements Struct<text_args> {
        @Id(1)
        public String value;

        public String getValue() {
            return value;
        }

        public void setValue(String value) {
            this.value = value;
        }
    }

    public static final class text_result implements Struct<text_result> {
        @Id(0)
        public String success;

        public String getSuccess() {
            return success;
        }

        public void setSuccess(String success) {
            this.success = success;
        }
    }

    public static final class bytes_args implements Struct<bytes_args> {
        @Id(1)
        public ByteBuffer value;

        public byte[] getValue() {
            return value == null ? null : value.array();
        }

        public void setValue(byte[] value) {
            this.value = ByteBuffer.wrap(value);
        }

        public void setValue(ByteBuffer value) {
            this.value = value;
        }
    }

    public static final class bytes_result implements Struct<bytes_result> {
        @Id(0)
        public ByteBuffer success;

        public byte[] getSuccess() {
            return success == null ? null : success.array();
        }

        public void setSuccess(byte[] success) {
            this.success = ByteBuffer.wrap(success);
        }

        public void setSuccess(ByteBuffer success) {
            this.success = success;
        }
    }

    public static final class genre_args implements Struct<genre_args> {
        @Id(1)
        public Genre value;

        public Genre getValue() {
            return value;
        }

        public void setValue(Genre value) {
            this.value = value;
        }
    }

    public static final class genre_result implements Struct<genre_result> {
        @Id(0)
        public Genre success;

        public Genre getSuccess() {
            return success;
        }

        public void setSuccess(Genre success) {
            this.success = success;
        }
    }

    public static final class book_args implements Struct<book_args> {
        @Id(1)
        public Book value;

        public Book getValue() {
            return value;
        }

        public void setValue(Book value) {
            this.value = value;
        }
    }

    public static final class book_result implements Struct<book_result> {
        @Id(0)
        public Book success;

        public Book getSuccess() {
            return success;
        }

        public void setSuccess(Book success) {
            this.success = success;
        }
    }

    public static final class books_args implements Struct<books_args> {
        @Id(1)
        public List<Long> ids;

        public List<Long> getIds() {
            return ids;
        }

        public void setIds(List<Long> ids) {
            this.ids = ids;
        }
    }

    public static final class books_result implements Struct<books_result> {
        @Id(0)
        public List<Book> success;

        public List<Book> getSuccess() {
            return success;
        }

        public void setSuccess(List<Book> success) {
            this.success = success;
        }
    }

    public static final class tags_args implements Struct<tags_args> {
        @Id(1)
        public Set<String> value;

        public Set<String> getValue() {
            return value;
        }

        public void setValue(Set<String> value) {
            this.value = value;
        }
    }

    public static final class tags_result implements Struct<tags_result> {
        @Id(0)
        public Set<String> success;

        public Set<String> getSuccess() {
            return success;
        }

        public void setSuccess(Set<String> success) {
            this.success = success;
        }
    }

    public static final class count_args implements Struct<count_args> {
        @Id(1)
        public Map<String, List<Integer>> value;

        public Map<String, List<Integer>> getValue() {
            return value;
        }

        public void setValue(Map<String, List<Integer>> value) {
            this.value = value;
        }
    }

    public static final class count_result implements Struct<count_result> {
        @Id(0)
        public Map<String, Long> success;

        public Map<String, Long> getSuccess() {
            return success;
        }

        public void setSuccess(Map<String, Long> success) {
            this.success = success;
        }
    }

    public static final class bools_args implements Struct<bools_args> {
        @Id(1)
        public List<Boolean> value;

        public List<Boolean> getValue() {
            return value;
        }

        public void setValue(List<Boolean> value) {
            this.value = value;
        }
    }

    public static final class bools_result implements Struct<bools_result> {
        @Id(0)
        public List<Boolean> success;

        public List<Boolean> getSuccess() {
            return success;
        }

        public void setSuccess(List<Boolean> success) {
            this.success = success;
        }
    }

    public static final class shelves_args implements Struct<shelves_args> {
        @Id(1)
        public int number;

        public int getNumber() {
            return number;
        }

        public void setNumber(int number) {
            this.number = number;
        }
    }

    public static final class shelves_result implements Struct<shelves_result> {
        @Id(0)
        public Map<String, Map<Integer, Book>> success;

        public Map<String, Map<Integer, Book>> getSuccess() {
            return success;
        }

        public void setSuccess(Map<String, Map<Integer, Book>> success) {
            this.success = success;
        }
    }

    public static final class legacy_args implements Struct<legacy_args> {
        @Id(1)
        public Legacy value;

        public Legacy getValue() {
            return value;
        }

        public void setValue(Legacy value) {
            this.value = value;
        }
    }

    public static final class legacy_result implements Struct<legacy_result> {
        @Id(0)
        public Legacy success;

        public Legacy getSuccess() {
            return success;
        }

        public void setSuccess(Legacy success) {
            this.success = success;
        }
    }

    public static final class find_args implements Struct<find_args> {
        @Id(1)
        public long id;

        public long getId() {
            return id;
        }

        public void setId(long id) {
            this.id = id;
        }
    }

    public static final class find_result implements Struct<find_result> {
        @Id(0)
        public Book success;
        @Id(1)
        public Missing missing;
        @Id(2)
        public Refused refused;

        public Book getSuccess() {
            return success;
        }

        public void setSuccess(Book success) {
            this.success = success;
        }

        public Missing getMissing() {
            return missing;
        }

        public void setMissing(Missing missing) {
            this.missing = missing;
        }

        public Refused getRefused() {
            return refused;
        }

        public void setRefused(Refused refused) {
            this.refused = refused;
        }
    }

    public static final class verify_args implements Struct<verify_args> {
        @Id(1)
        public String how;

        public String getHow() {
            return how;
        }

        public void setHow(String how) {
            this.how = how;
        }
    }

    public static final class verify_result implements Struct<verify_result> {
        @Id(1)
        public Missing missing;

        public Missing getMissing() {
            return missing;
        }

        public void setMissing(Missing missing) {
            this.missing = missing;
        }
    }

    public static final class note_args implements Struct<note_args> {
        @Id(1)
        public String text;

        public String getText() {
            return text;
        }

        public void setText(String text) {
            this.text = text;
        }
    }

    public static final class all_args implements Struct<all_args> {
        @Id(1)
        public boolean a;
        @Id(2)
        public byte b;
        @Id(3)
        public short c;
        @Id(4)
        public int d;
        @Id(5)
        public long e;
        @Id(6)
        public double f;
        @Id(7)
        public String g;
        @Id(8)
        public ByteBuffer h;
        @Id(9)
        public Genre i;

        public boolean isA() {
            return a;
        }

        public void setA(boolean a) {
            this.a = a;
        }

        public byte getB() {
            return b;
        }

        public void setB(byte b) {
            this.b = b;
        }

        public short getC() {
            return c;
        }

        public void setC(short c) {
            this.c = c;
        }

        public int getD() {
            return d;
        }

        public void setD(int d) {
            this.d = d;
        }

        public long getE() {
            return e;
        }

        public void setE(long e) {
            this.e = e;
        }

        public double getF() {
            return f;
        }

        public void setF(double f) {
            this.f = f;
        }

        public String getG() {
            return g;
        }

        public void setG(String g) {
            this.g = g;
        }

        public byte[] getH() {
            return h == null ? null : h.array();
        }

        public void setH(byte[] h) {
            this.h = ByteBuffer.wrap(h);
        }

        public void setH(ByteBuffer h) {
            this.h = h;
        }

        public Genre getI() {
            return i;
        }

        public void setI(Genre i) {
            this.i = i;
        }
    }

    public static final class all_result implements Struct<all_result> {
        @Id(0)
        public Integer success;

        public Integer getSuccess() {
            return success;
        }

        public void setSuccess(Integer success) {
            this.success = success;
        }
    }

    public static final class most_args implements Struct<most_args> {
        @Id(1)
        public byte b;
        @Id(2)
        public short c;
        @Id(3)
        public int d;
        @Id(4)
        public long e;
        @Id(5)
        public double f;
        @Id(6)
        public String g;
        @Id(7)
        public Genre i;

        public byte getB() {
            return b;
        }

        public void setB(byte b) {
            this.b = b;
        }

        public short getC() {
            return c;
        }

        public void setC(short c) {
            this.c = c;
        }

        public int getD() {
            return d;
        }

        public void setD(int d) {
            this.d = d;
        }

        public long getE() {
            return e;
        }

        public void setE(long e) {
            this.e = e;
        }

        public double getF() {
            return f;
        }

        public void setF(double f) {
            this.f = f;
        }

        public String getG() {
            return g;
        }

        public void setG(String g) {
            this.g = g;
        }

        public Genre getI() {
            return i;
        }

        public void setI(Genre i) {
            this.i = i;
        }
    }

    public static final class most_result implements Struct<most_result> {
        @Id(0)
        public Integer success;

        public Integer getSuccess() {
            return success;
        }

        public void setSuccess(Integer success) {
            this.success = success;
        }
    }

    public static final class fail_args implements Struct<fail_args> {
        @Id(1)
        public String how;

        public String getHow() {
            return how;
        }

        public void setHow(String how) {
            this.how = how;
        }
    }

    public static final class fail_result implements Struct<fail_result> {
        @Id(0)
        public String success;

        public String getSuccess() {
            return success;
        }

        public void setSuccess(String success) {
            this.success = success;
        }
    }

    public static final class none_args implements Struct<none_args> {
        @Id(1)
        public String how;

        public String getHow() {
            return how;
        }

        public void setHow(String how) {
            this.how = how;
        }
    }

    public static final class none_result implements Struct<none_result> {
        @Id(0)
        public String success;

        public String getSuccess() {
            return success;
        }

        public void setSuccess(String success) {
            this.success = success;
        }
    }
}
