package dubbowire;

import java.sql.Timestamp;
import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.Locale;
import java.util.TimeZone;

/** Dates and times of all classes, from their text, their milliseconds or their fields. */
final class Times {
    private LocalDate date;
    private LocalTime time;
    private ZoneOffset offset;
    private ZoneId region;

    private Times() {
    }

    /** Takes a text such as 2019-11-19T16:00:01.500+08:00[Asia/Shanghai] apart. */
    private static Times parse(String text) {
        Times t = new Times();
        String s = text.trim();
        int bracket = s.indexOf('[');
        if (bracket > 0 && s.endsWith("]")) {
            t.region = ZoneId.of(s.substring(bracket + 1, s.length() - 1));
            s = s.substring(0, bracket);
        }
        int at = s.indexOf('T') >= 0 ? s.indexOf('T') : s.indexOf(' ');
        String clock = at >= 0 ? s.substring(at + 1) : s.indexOf(':') > 0 ? s : "";
        if (at >= 0 || clock.isEmpty()) {
            t.date = LocalDate.parse(at >= 0 ? s.substring(0, at) : s);
        }
        if (!clock.isEmpty()) {
            int zone = clock.endsWith("Z") ? clock.length() - 1 : Math.max(clock.indexOf('+'), clock.indexOf('-'));
            if (zone > 0) {
                t.offset = ZoneOffset.of(clock.substring(zone));
                clock = clock.substring(0, zone);
            }
            t.time = LocalTime.parse(clock);
        }
        return t;
    }

    /** As DateFormat writes it for the language of the United States, which is what Gson does. */
    private static Times written(String text, RuntimeException why) {
        String plain = text.replace('\u202f', ' ').replaceFirst("(?<=[0-9]{4}),", "");
        for (String pattern : new String[] {"MMM d, yyyy h:mm:ss a", "MMM d, yyyy", "h:mm:ss a"}) {
            try {
                return at(new SimpleDateFormat(pattern, Locale.US).parse(plain).getTime());
            } catch (ParseException e) {
                continue;
            }
        }
        throw why;
    }

    private static Times at(long millis) {
        Times t = new Times();
        LocalDateTime local = LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC);
        t.date = local.toLocalDate();
        t.time = local.toLocalTime();
        t.offset = ZoneOffset.UTC;
        return t;
    }

    private LocalDateTime local() {
        return LocalDateTime.of(date == null ? LocalDate.ofEpochDay(0) : date, time == null ? LocalTime.MIDNIGHT : time);
    }

    private Instant instant() {
        ZoneId zone = offset != null ? offset : region != null ? region : ZoneId.systemDefault();
        return local().atZone(zone).toInstant();
    }

    static Class<?> natural(String text) {
        Times t;
        try {
            t = parse(text);
        } catch (RuntimeException e) {
            return Date.class;
        }
        if (t.region != null) {
            return ZonedDateTime.class;
        }
        if (t.offset == null) {
            return t.date == null ? LocalTime.class : t.time == null ? LocalDate.class : LocalDateTime.class;
        }
        if (t.date == null) {
            return OffsetTime.class;
        }
        return !text.endsWith("Z") ? OffsetDateTime.class : t.time.getNano() % 1_000_000 == 0 ? Date.class : Instant.class;
    }

    static Object build(Class<?> type, Node n) throws Failure {
        if (Calendar.class.isAssignableFrom(type)) {
            return calendar(n);
        }
        if (TimeZone.class.isAssignableFrom(type)) {
            return TimeZone.getTimeZone(Scalars.string(n.get("ID") == null ? n : n.get("ID")));
        }
        switch (type.getName()) {
            case "java.time.Duration":
                return n.isScalar() ? Duration.parse(Scalars.string(n)) : Duration.ofSeconds(number(n, "seconds"), number(n, "nanos", "nano"));
            case "java.time.Period":
                return n.isScalar() ? Period.parse(Scalars.string(n)) : Period.of((int) number(n, "years"), (int) number(n, "months"), (int) number(n, "days"));
            case "java.time.Year":
                return Year.of(n.isScalar() ? (int) Scalars.integer(n) : (int) number(n, "year", "value"));
            case "java.time.YearMonth":
                return n.isScalar() ? YearMonth.parse(Scalars.string(n)) : YearMonth.of((int) number(n, "year"), month(n));
            case "java.time.MonthDay":
                return n.isScalar() ? MonthDay.parse(Scalars.string(n)) : MonthDay.of(month(n), (int) number(n, "day", "dayOfMonth"));
            case "java.time.ZoneOffset": case "java.time.ZoneId": case "java.time.ZoneRegion": {
                Node seconds = n.get("totalSeconds", "seconds");
                if (seconds != null) {
                    return ZoneOffset.ofTotalSeconds((int) Scalars.integer(seconds));
                }
                Node id = n.get("zoneId", "id", "value");
                return ZoneId.of(Scalars.string(id == null ? n : id));
            }
            default:
        }
        Times t = times(n);
        switch (type.getName()) {
            case "java.time.LocalDate": return t.local().toLocalDate();
            case "java.time.LocalTime": return t.local().toLocalTime();
            case "java.time.LocalDateTime": return t.local();
            case "java.time.Instant": return t.instant();
            case "java.time.OffsetTime": return OffsetTime.of(t.local().toLocalTime(), t.offset == null ? ZoneOffset.UTC : t.offset);
            case "java.time.OffsetDateTime": return OffsetDateTime.of(t.local(), t.offset == null ? ZoneOffset.UTC : t.offset);
            case "java.time.ZonedDateTime":
                return ZonedDateTime.ofLocal(t.local(), t.region != null ? t.region : t.offset != null ? t.offset : ZoneId.systemDefault(), t.offset);
            case "java.sql.Timestamp": {
                Instant i = t.instant();
                Timestamp stamp = new Timestamp(i.toEpochMilli());
                stamp.setNanos(i.getNano());
                return stamp;
            }
            case "java.sql.Date": return new java.sql.Date(t.instant().toEpochMilli());
            case "java.sql.Time": return new java.sql.Time(t.instant().toEpochMilli());
            case "java.util.Date": return new Date(t.instant().toEpochMilli());
            default: return Scalars.OTHER;
        }
    }

    private static Times times(Node n) throws Failure {
        switch (n.kind) {
            case Node.INT:
                return at(n.number);
            case Node.DATE: case Node.STRING:
                try {
                    return parse(n.text);
                } catch (RuntimeException e) {
                    if (n.kind == Node.DATE && n.number != 0) {
                        return at(n.number);
                    }
                    return written(n.text, e);
                }
            default:
                return parts(n);
        }
    }

    /** A time as an object: of one field that holds it, or of its parts. */
    private static Times parts(Node n) throws Failure {
        Node inside = n.get("value", "date", "time", "object", "fastTime", "timeInMillis");
        if (inside != null && inside.isScalar() && inside.kind != Node.NULL) {
            return times(inside);
        }
        Times t = new Times();
        if (n.kind == Node.LIST) {
            return numbers(n);
        }
        Node seconds = n.get("epochSecond", "seconds"), whole = n.get("dateTime"), date = n.get("date"), time = n.get("time"), offset = n.get("offset"), zone = n.get("zone");
        if (seconds != null) {
            Node nanos = n.get("nano", "nanos");
            return at(Scalars.integer(seconds) * 1000).plus(nanos == null ? 0 : Scalars.integer(nanos));
        }
        if (whole != null || date != null && time != null) {
            t.date = times(whole != null ? whole : date).date;
            t.time = times(whole != null ? whole : time).time;
        }
        if (n.get("year") != null && n.get("day", "dayOfMonth") != null) {
            int month = month(n) + (n.get("hourOfDay") != null ? 1 : 0); // a Calendar counts months from 0
            t.date = LocalDate.of((int) number(n, "year"), month, (int) number(n, "day", "dayOfMonth"));
        }
        if (n.get("hour", "hourOfDay") != null) {
            t.time = LocalTime.of((int) number(n, "hour", "hourOfDay"), or0(n, "minute"), or0(n, "second"), or0(n, "nano"));
        } else if (time != null && !time.isScalar() && t.time == null) {
            t.time = times(time).time;
        }
        if (offset != null && !offset.isScalar()) {
            t.offset = (ZoneOffset) build(ZoneOffset.class, offset);
        }
        if (zone != null && !zone.isScalar()) {
            t.region = (ZoneId) build(ZoneId.class, zone);
        }
        if (t.date == null && t.time == null) {
            throw new Failure(n.what() + " where a time is declared");
        }
        return t;
    }

    /** A time as the list of its numbers, which is what Jackson writes: year, month and day, then hour, minute, second and nanoseconds, or only these. */
    private static Times numbers(Node n) throws Failure {
        int[] all = new int[7];
        int count = n.inner.length;
        for (int i = 0; i < count; i++) {
            if (count > all.length || n.inner[i].kind != Node.INT) {
                throw new Failure(n.what() + " where a time is declared");
            }
            all[i] = (int) Scalars.integer(n.inner[i]);
        }
        Times t = new Times();
        boolean day = count > 4 || count == 3 && all[0] > 23;
        if (count < 2) {
            throw new Failure(n.what() + " where a time is declared");
        }
        if (day) {
            t.date = LocalDate.of(all[0], all[1], all[2]);
        }
        if (!day || count > 3) {
            int at = day ? 3 : 0;
            t.time = LocalTime.of(all[at], all[at + 1], all[at + 2], all[at + 3]);
        }
        return t;
    }

    private static int or0(Node n, String name) throws Failure {
        return n.get(name) == null ? 0 : (int) number(n, name);
    }

    private Times plus(long nanos) {
        LocalDateTime local = local().plusNanos(nanos);
        date = local.toLocalDate();
        time = local.toLocalTime();
        return this;
    }

    private static long number(Node n, String... names) throws Failure {
        Node field = n.get(names);
        if (field == null || !field.isScalar() || field.kind == Node.NULL) {
            throw new Failure(n.what() + " without " + names[0]);
        }
        return Scalars.integer(field);
    }

    private static int month(Node n) throws Failure {
        Node month = n.get("month", "monthValue");
        if (month != null && (month.kind == Node.STRING || month.kind == Node.ENUM) && !month.text.isEmpty()) {
            return java.time.Month.valueOf(month.text).getValue();
        }
        return (int) number(n, "month", "monthValue");
    }

    private static Calendar calendar(Node n) throws Failure {
        Node zone = n.get("zone");
        Calendar c = zone != null && zone.kind != Node.NULL ? new GregorianCalendar((TimeZone) build(TimeZone.class, zone)) : new GregorianCalendar();
        Node first = n.get("firstDayOfWeek"), least = n.get("minimalDaysInFirstWeek"), lenient = n.get("lenient");
        if (first != null && least != null) {
            c.setFirstDayOfWeek((int) first.number);
            c.setMinimalDaysInFirstWeek((int) least.number);
        }
        if (lenient != null) {
            c.setLenient(lenient.number != 0);
        }
        c.setTimeInMillis(times(n).instant().toEpochMilli());
        c.get(Calendar.YEAR); // computes its fields
        return c;
    }
}
