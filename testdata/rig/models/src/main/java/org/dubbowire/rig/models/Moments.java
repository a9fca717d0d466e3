package org.dubbowire.rig.models;

import java.io.Serializable;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.*;
import java.util.Calendar;
import java.util.Date;
import java.util.TimeZone;

public class Moments implements Serializable {
    private Date date;
    private java.sql.Date day;
    private Time time;
    private Timestamp stamp;
    private Calendar calendar;
    private TimeZone zone;
    private LocalDate localDate;
    private LocalTime localTime;
    private LocalDateTime local;
    private Instant instant;
    private ZonedDateTime zoned;
    private OffsetDateTime offset;
    private OffsetTime offsetTime;
    private Duration duration;
    private Period period;
    private Year year;
    private YearMonth month;
    private MonthDay monthDay;
    private ZoneId zoneId;
    private ZoneOffset zoneOffset;
    private DayOfWeek weekday;
    private Date other;
}
