package org.dubbowire.rig.zoo;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
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
import java.util.List;
import java.util.Map;
import lombok.Getter;
import lombok.Setter;

/** Insurance: three levels of inheritance with hidden fields, dates, times, big numbers. */
public final class Cover {
    private Cover() {
    }

    @Getter
    @Setter
    public abstract static class Contract implements Serializable {
        private static final long serialVersionUID = 1L;
        protected String number;
        protected int revision;
        private transient String cache = "not written";
        private static String shared = "not written";
        private final String kind = getClass().getSimpleName();
    }

    @Getter
    @Setter
    public abstract static class Insurance extends Contract {
        private static final long serialVersionUID = 2L;
        protected int revision;
        private BigDecimal premium;
        protected String holder;
    }

    @Getter
    @Setter
    public static class Policy extends Insurance {
        private static final long serialVersionUID = 3L;
        protected String holder;
        private int revision;
        private List<String> riders;
        private Policy renewed;
    }

    /** No shadowed fields: three levels in all formats. */
    @Getter
    @Setter
    public static class Level1 implements Serializable {
        private static final long serialVersionUID = 4L;
        private int one;
        private String text1;
    }

    @Getter
    @Setter
    public static class Level2 extends Level1 {
        private static final long serialVersionUID = 5L;
        private long two;
        private List<String> text2;
    }

    @Getter
    @Setter
    public static class Level3 extends Level2 {
        private static final long serialVersionUID = 6L;
        private double three;
        private Level1 text3;
    }

    @Getter
    @Setter
    public static class Dates implements Serializable {
        private static final long serialVersionUID = 7L;
        private Date start;
        private java.sql.Date day;
        private Time hour;
        private Timestamp stamp;
        private List<Date> all;
        private Map<String, Timestamp> named;
        private Date[] array;
    }

    @Getter
    @Setter
    public static class Clock implements Serializable {
        private static final long serialVersionUID = 8L;
        private Calendar calendar;
        private String after;
    }

    /** java.time, one field each, and where a reference could stand. */
    @Getter
    @Setter
    public static class Times implements Serializable {
        private static final long serialVersionUID = 9L;
        private LocalDate localDate;
        private LocalTime localTime;
        private LocalDateTime localDateTime;
        private Instant instant;
        private ZonedDateTime zonedDateTime;
        private OffsetDateTime offsetDateTime;
        private OffsetTime offsetTime;
        private Duration duration;
        private Period period;
        private Year year;
        private YearMonth yearMonth;
        private MonthDay monthDay;
        private DayOfWeek dayOfWeek;
        private Month month;
        private ZoneId zoneId;
        private ZoneOffset zoneOffset;
        private List<LocalDate> days;
        private Map<LocalDate, String> byDay;
        private LocalDateTime[] array;
    }

    /** The times that most models have. */
    @Getter
    @Setter
    public static class Term implements Serializable {
        private static final long serialVersionUID = 10L;
        private LocalDate from;
        private LocalDate to;
        private LocalDateTime signed;
        private LocalTime at;
        private Instant stamp;
        private String name;
    }

    @Getter
    @Setter
    public static class Sums implements Serializable {
        private static final long serialVersionUID = 11L;
        private BigDecimal amount;
        private BigInteger count;
        private BigDecimal[] amounts;
        private List<BigInteger> counts;
        private Map<Integer, BigDecimal> map;
        private Number number;
    }
}
