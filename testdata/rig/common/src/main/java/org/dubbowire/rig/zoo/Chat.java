package org.dubbowire.rig.zoo;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import lombok.Getter;
import lombok.Setter;

/** A chat: cycles, shared objects, fields declared as Object and as interfaces. */
public final class Chat {
    private Chat() {
    }

    public enum Mood {
        happy, Sad, ANGRY
    }

    @Kinds({Text.class, Picture.class, Quote.class})
    public interface Content extends Serializable {
    }

    @Getter
    @Setter
    public static class Text implements Content {
        private static final long serialVersionUID = 1L;
        private String text;
        private Mood mood;
    }

    @Getter
    @Setter
    public static class Picture implements Content {
        private static final long serialVersionUID = 2L;
        private byte[] data;
        private int width;
        private int height;
    }

    @Getter
    @Setter
    public static class Quote implements Content {
        private static final long serialVersionUID = 3L;
        private Content quoted;
        private List<Content> all;
    }

    @Getter
    @Setter
    public static class Member implements Serializable {
        private static final long serialVersionUID = 4L;
        private String nick;
        private Member invitedBy;
        private List<Member> friends = new ArrayList<>();
        private Object extra;
    }

    @Getter
    @Setter
    public static class Message implements Serializable {
        private static final long serialVersionUID = 5L;
        private long id;
        private Member from;
        private Content content;
        private Date sent;
        private Map<Mood, List<Member>> reactions;
        private EnumMap<Mood, Integer> counts;
        private EnumSet<Mood> moods;
        private Object anything;
        private Object[] anythings;
        private List<Object> list;
        private Map<String, Object> map;
        private Comparable<?> comparable;
        private CharSequence sequence;
        private Serializable serializable;
        private Content[] contents;
    }

    /** Everybody knows everybody. */
    public static List<Member> circle(int size) {
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Member member = new Member();
            member.setNick("member " + i);
            members.add(member);
        }
        for (Member member : members) {
            member.setInvitedBy(member);
            member.getFriends().addAll(members);
            member.setExtra(members);
        }
        return members;
    }
}
